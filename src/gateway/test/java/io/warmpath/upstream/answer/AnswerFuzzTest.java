package io.warmpath.upstream.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Streams made of real events, changed and cut at random, read by the scanner and by a slow
 * reference.
 *
 * <p>{@code -Dtest.fuzz=N} reads N streams of each kind; {@code -Dwarmpath.test.seed=S} repeats
 * one.
 */
@Tag("slow")
class AnswerFuzzTest {
    private static final int STREAMS = Integer.getInteger("test.fuzz", 40_000);
    private static final Long REPLAY = Long.getLong("warmpath.test.seed");
    private static final String[] ENDS = {"\n", "\n", "\n", "\r\n", "\r"};
    private static final String[] TEXTS = {
        "",
        "",
        " the",
        "a\\nb",
        "\\\"",
        "\\\\",
        "\\u00e9",
        "\u65e5\u672c",
        "data: x",
        "}]}",
        "\\\\\\\"}",
        "[DONE]",
        "\\r\\n",
        "usage\\\":{",
        "{\\\"content\\\":\\\"x\\\"}"
    };
    private static final String[] MEMBERS = {
        "\"content\":%s",
        "\"content\":%s",
        "\"content\":%s,\"reasoning_content\":null",
        "\"reasoning_content\":%s,\"content\":null",
        "\"reasoning\":%s",
        "\"role\":\"assistant\",\"content\":%s",
        "\"refusal\":%s",
        "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":%s}}]",
        "\"tool_calls\":[],\"content\":%s",
        "\"token_ids\":[],\"x\":%s",
        "\"x\":{\"content\":%s}",
        "\"content\":\"\",\"reasoning\":%s",
        "\"reasoning\":%s,\"content\":\"a\""
    };
    private static final String[] USAGES = {
        "null",
        "{\"prompt_tokens\":15,\"total_tokens\":19,\"completion_tokens\":4}",
        "{\"prompt_tokens\":7,\"completion_tokens\":0,\"prompt_tokens_details\":null}",
        "{\"prompt_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":3,\"x\":[{}]}}",
        "{}"
    };

    private static List<byte[]> recorded;

    @BeforeAll
    static void load() throws IOException {
        recorded = new ArrayList<>();
        try (InputStream in = open("vectors/openai-sse.json")) {
            for (JsonNode c : new ObjectMapper().readTree(in).path("cases")) {
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                c.path("reads").forEach(r -> all.writeBytes(HexFormat.of().parseHex(r.asText())));
                if (all.size() < 4000) {
                    recorded.add(all.toByteArray());
                }
            }
        }
        for (String file : AnswerScannerTest.recordings().toList()) {
            try (InputStream in = open("captures/http/" + file)) {
                recorded.add(in.readAllBytes());
            }
        }
        assertTrue(recorded.size() > 50, "the recordings are there");
    }

    @Test
    void a_stream_of_well_formed_events_is_read_as_the_slow_reference_reads_it() {
        int tokens = 0;
        int usages = 0;
        for (int i = 0; i < STREAMS; i++) {
            long seed = REPLAY == null ? 0x5ca7_0000_0000L + i : REPLAY;
            SplittableRandom random = new SplittableRandom(seed);
            byte[] all = stream(random).getBytes(StandardCharsets.UTF_8);
            SlowSse slow = SlowSse.read(all);
            AnswerScanner s = AnswerScanner.ofEvents();
            feed(s, all, random);
            if (!slow.summary().equals(SlowSse.summary(s))) {
                assertEquals(slow.summary(), SlowSse.summary(s), () -> replay(seed, all));
            }
            tokens += s.sawToken() ? 1 : 0;
            usages += s.cachedTokens() >= 0 ? 1 : 0;
        }
        if (REPLAY == null) {
            assertTrue(tokens > STREAMS / 4, "most streams have tokens: " + tokens);
            assertTrue(usages > STREAMS / 50, "some report cached tokens: " + usages);
        }
    }

    /**
     * Broken JSON may be judged differently by Jackson, as the scanner is no validator. What is
     * broken must not be judged differently by its short way.
     */
    @Test
    void a_damaged_stream_is_read_the_same_with_and_without_the_pattern() {
        byte[] damage = ": \r\n{}[]\"\\,adtev0n".getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < STREAMS; i++) {
            long seed = REPLAY == null ? 0xdada_0000_0000L + i : REPLAY;
            SplittableRandom random = new SplittableRandom(seed);
            byte[] all =
                    random.nextInt(3) > 0
                            ? stream(random).getBytes(StandardCharsets.UTF_8)
                            : recorded.get(random.nextInt(recorded.size())).clone();
            for (int n = random.nextInt(5); n > 0 && all.length > 0; n--) {
                all[random.nextInt(all.length)] = damage[random.nextInt(damage.length)];
            }
            AnswerScanner plain = AnswerScanner.ofEventsWithoutPattern();
            int ofPlain = plain.scan(all, 0, all.length);
            AnswerScanner whole = AnswerScanner.ofEvents();
            int ofWhole = whole.scan(all, 0, all.length);
            AnswerScanner pieces = AnswerScanner.ofEvents();
            feed(pieces, all, random);
            if (ofPlain != ofWhole
                    || !SlowSse.summary(plain).equals(SlowSse.summary(whole))
                    || !SlowSse.summary(plain).equals(SlowSse.summary(pieces))) {
                assertEquals(SlowSse.summary(plain), SlowSse.summary(whole), replay(seed, all));
                assertEquals(SlowSse.summary(plain), SlowSse.summary(pieces), replay(seed, all));
                assertEquals(ofPlain, ofWhole, replay(seed, all));
            }
        }
    }

    /** Without this the tests above could pass because the short way is never taken. */
    @Test
    void the_pattern_is_found_and_knows_an_empty_text() {
        byte[] event =
                event("\"content\":\"abc\"", "null", "null").getBytes(StandardCharsets.UTF_8);
        byte[] empty = event("\"content\":\"\"", "null", "null").getBytes(StandardCharsets.UTF_8);
        EventPattern p = new EventPattern();
        assertEquals(-1, p.match(event, 0, event.length));
        p.learn(event, 0, event.length, new AnswerJson());
        p.learn(event, 0, event.length, new AnswerJson());
        assertEquals(event.length, p.match(event, 0, event.length));
        assertTrue(p.matchedText());
        assertEquals(-1, p.match(event, 0, event.length - 1), "its end is not here");
        assertEquals(empty.length, p.match(empty, 0, empty.length));
        assertEquals(false, p.matchedText());
    }

    private static String stream(SplittableRandom random) {
        StringBuilder b = new StringBuilder(random.nextInt(50) == 0 ? "\ufeff" : "");
        String end = ENDS[random.nextInt(ENDS.length)];
        String member = MEMBERS[random.nextInt(MEMBERS.length)];
        String finish = "null";
        String usage = USAGES[0];
        for (int n = random.nextInt(9); n >= 0; n--) {
            if (random.nextInt(6) == 0) {
                member = MEMBERS[random.nextInt(MEMBERS.length)];
            }
            if (random.nextInt(12) == 0) {
                finish = random.nextBoolean() ? "null" : "\"stop\"";
                usage = USAGES[random.nextInt(USAGES.length)];
            }
            String text = '"' + TEXTS[random.nextInt(TEXTS.length)] + '"';
            String event = event(String.format(member, text), finish, usage);
            b.append(
                    switch (random.nextInt(40)) {
                        case 0 -> ": ping\n\n";
                        case 1 -> "event: ping\n" + event;
                        case 2 -> "event: message\nid: 7\n" + event;
                        case 3 -> event.replace("data: ", "data:");
                        case 4 -> event.replace(",\"choices", "\ndata: ,\"choices");
                        case 5 -> "data: [DONE]\n\n";
                        case 6 -> "data: {\"error\":{\"message\":" + text + "}}\n\n";
                        case 7 -> "data: {\"choices\":[],\"usage\":" + usage + "}\n\n";
                        case 8 -> "data: {\"text\":" + text + ",\"output_ids\":[]}\n\n";
                        case 9 -> "data: {\"token_ids\":[7],\"x\":" + text + "}\n\n";
                        case 10 -> "\n" + event;
                        default -> event;
                    });
        }
        b.append(random.nextBoolean() ? "data: [DONE]\n\n" : "");
        return b.toString().replace("\n", end);
    }

    private static String event(String member, String finish, String usage) {
        return "data: {\"id\":\"c-1\",\"created\":17,\"choices\":[{\"index\":0,\"delta\":{"
                + member
                + "},\"logprobs\":null,\"finish_reason\":"
                + finish
                + "}],\"usage\":"
                + usage
                + "}\n\n";
    }

    private static void feed(AnswerScanner s, byte[] all, SplittableRandom random) {
        int most = random.nextInt(3) == 0 ? all.length + 1 : 1 + random.nextInt(400);
        for (int p = 0; p < all.length; ) {
            int n = Math.min(all.length - p, 1 + random.nextInt(most));
            s.scan(all, p, n);
            p += n;
        }
    }

    private static String replay(long seed, byte[] all) {
        return "-Dwarmpath.test.seed=" + seed + ": " + new String(all, StandardCharsets.UTF_8);
    }

    private static InputStream open(String resource) {
        InputStream in = AnswerFuzzTest.class.getClassLoader().getResourceAsStream(resource);
        assertTrue(in != null, resource + " is missing");
        return in;
    }
}
