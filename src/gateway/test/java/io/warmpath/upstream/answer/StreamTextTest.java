package io.warmpath.upstream.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What is kept of a stream is what its complete events said, however its bytes were cut. */
class StreamTextTest {
    private static final String[] PIECES = {
        "a",
        " word",
        "\\n\\n",
        "\\\"",
        "\\\\",
        "é",
        "\ud83d\ude00",
        "\\u4e2d",
        "{\\\"x\\\":1}",
        "",
        " data:"
    };

    private static String event(String member, String text) {
        return "data: {\"id\":\"x\",\"choices\":[{\"index\":0,"
                + member.replace("%", text)
                + ",\"finish_reason\":null}]}\n\n";
    }

    @Test
    void the_text_of_a_stream_is_kept_however_it_is_cut() {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int round = 0; round < 400; round++) {
            boolean chat = random.nextBoolean();
            String member = chat ? "\"delta\":{\"content\":\"%\"}" : "\"text\":\"%\"";
            StringBuilder stream = new StringBuilder();
            StringBuilder expected = new StringBuilder();
            int pieces = 0;
            for (int i = random.nextInt(40); i >= 0; i--) {
                String piece = PIECES[random.nextInt(PIECES.length)];
                boolean other = random.nextInt(12) == 0;
                boolean reasoning = chat && !other && random.nextInt(12) == 0;
                stream.append(
                        other
                                ? ": comment\n\n"
                                : event(
                                        reasoning ? "\"delta\":{\"reasoning\":\"%\"}" : member,
                                        piece));
                expected.append(other || reasoning ? "" : piece);
                pieces += other || reasoning || piece.isEmpty() ? 0 : 1;
            }
            byte[] bytes = stream.toString().getBytes(StandardCharsets.UTF_8);
            byte[] tail = event(member, "lost").getBytes(StandardCharsets.UTF_8);
            StreamText kept = new StreamText(n -> true);
            AnswerScanner scanner = AnswerScanner.ofEvents(kept);
            for (int at = 0; at < bytes.length; ) {
                int n = Math.min(bytes.length - at, 1 + random.nextInt(400));
                scanner.scan(bytes, at, n);
                at += n;
            }
            // An event that is not complete, and the stream that goes on for this one.
            scanner.scan(tail, 0, 1 + random.nextInt(tail.length - 1));
            AnswerScanner next = AnswerScanner.ofEvents(kept);
            for (int i = random.nextInt(3); i >= 0; i--) {
                byte[] more = event(member, " more").getBytes(StandardCharsets.UTF_8);
                next.scan(more, 0, more.length);
                expected.append(" more");
                pieces++;
            }
            assertEquals(
                    expected.toString(),
                    new String(kept.escaped(), StandardCharsets.UTF_8),
                    "-Dwarmpath.test.seed=" + seed + ", round " + round);
            assertEquals(pieces, kept.pieces(), "-Dwarmpath.test.seed=" + seed);
        }
    }

    @Test
    void the_first_event_and_the_kinds_of_output_are_known() {
        StreamText kept = new StreamText(n -> true);
        AnswerScanner scanner = AnswerScanner.ofEvents(kept);
        byte[] first =
                event("\"delta\":{\"role\":\"assistant\",\"content\":\"\"}", "")
                        .getBytes(StandardCharsets.UTF_8);
        scanner.scan(first, 0, first.length);
        assertEquals(
                new String(first, StandardCharsets.UTF_8).strip().substring(6),
                new String(kept.firstEvent(), StandardCharsets.UTF_8));
        assertFalse(kept.hasReasoning() || kept.hasOther());
        for (int i = 0; i < 5; i++) {
            byte[] next =
                    event("\"delta\":{\"reasoning_content\":\"%\"}", "hm")
                            .getBytes(StandardCharsets.UTF_8);
            scanner.scan(next, 0, next.length);
        }
        assertTrue(kept.hasReasoning());
        assertFalse(kept.hasOther());
        assertEquals(0, kept.escaped().length);
        byte[] call =
                event("\"delta\":{\"tool_calls\":[{\"index\":0}]}", "")
                        .getBytes(StandardCharsets.UTF_8);
        scanner.scan(call, 0, call.length);
        assertTrue(kept.hasOther());
    }

    /** The kind was once taken from the last output in the event, which here is never written. */
    @Test
    void text_is_kept_where_an_empty_output_of_another_kind_follows_it() {
        StreamText kept = new StreamText(n -> true);
        AnswerScanner scanner = AnswerScanner.ofEvents(kept);
        StringBuilder expected = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            byte[] next =
                    event("\"delta\":{\"content\":\"%\",\"reasoning_content\":\"\"}", "t" + i)
                            .getBytes(StandardCharsets.UTF_8);
            scanner.scan(next, 0, next.length);
            expected.append('t').append(i);
        }
        assertEquals(expected.toString(), new String(kept.escaped(), StandardCharsets.UTF_8));
        assertFalse(kept.hasReasoning());
    }

    @Test
    void without_room_nothing_is_kept_any_more() {
        AtomicInteger room = new AtomicInteger(1000);
        StreamText kept = new StreamText(n -> room.addAndGet(-n) >= 0);
        AnswerScanner scanner = AnswerScanner.ofEvents(kept);
        byte[] bytes = event("\"text\":\"%\"", "word").getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 500; i++) {
            scanner.scan(bytes, 0, bytes.length);
        }
        assertTrue(kept.isLost());
        assertEquals(0, kept.escaped().length);
        assertTrue(scanner.sawToken());
        assertEquals(500, scanner.events());
    }
}
