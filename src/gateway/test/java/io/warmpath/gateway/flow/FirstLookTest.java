package io.warmpath.gateway.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.net.HeaderList;
import io.warmpath.upstream.UpstreamListener;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is looked at of an answer, and that all of it is passed on as it came. */
class FirstLookTest {
    private static final String FULL =
            "{\"error\":{\"message\":\"The request queue is full.\",\"code\":503}}";
    private static final String ROLE = "data: {\"choices\":[{\"delta\":{\"role\":\"a\"}}]}\n\n";

    /** Notes all that comes. */
    private static final class Notes implements UpstreamListener {
        final List<String> heads = new ArrayList<>();
        final StringBuilder body = new StringBuilder();
        boolean failed;

        @Override
        public void head(int status, MultiMap headers) {
            heads.add(status + (body.isEmpty() ? "" : " late"));
        }

        @Override
        public void data(byte[] b, int from, int length) {
            body.append(new String(b, from, length, StandardCharsets.UTF_8));
        }

        @Override
        public void end(byte[] b, int from, int length) {
            data(b, from, length);
        }

        @Override
        public void failed(GatewayError error) {
            failed = true;
        }
    }

    private final Notes notes = new Notes();
    private final List<Duration> full = new ArrayList<>();

    private FirstLook look(int status, String type) {
        FirstLook look =
                new FirstLook(
                        notes,
                        pause -> {
                            assertEquals(status == 200 ? 1 : 0, notes.heads.size());
                            full.add(pause);
                        });
        HeaderList headers = new HeaderList();
        headers.add("content-type", type);
        look.head(status, headers);
        return look;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource({
        "503, application/json, 1, true",
        "503, text/html, 0, false",
        "200, text/event-stream, 1, true",
        "200, application/json, 0, true",
        "500, application/json, 0, true",
    })
    void in_whatever_pieces_it_comes_it_is_passed_on_whole(
            int status, String type, int times, boolean json) {
        String stream = ": hi\r\nid: 1\ndata: " + FULL + "\n\ndata: [DONE]\n\n";
        String all = type.contains("event") ? stream : json ? FULL : "<html>503</html>";
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            notes.heads.clear();
            notes.body.setLength(0);
            full.clear();
            FirstLook look = look(status, type);
            byte[] b = bytes(all);
            int at = 0;
            while (b.length - at > 1 && random.nextInt(10) > 0) {
                int n = 1 + random.nextInt(b.length - at - 1);
                look.data(b, at, n);
                at += n;
            }
            look.end(b, at, b.length - at);
            assertEquals(times, full.size(), "seed " + seed + " round " + round);
            assertEquals(List.of(Integer.toString(status)), notes.heads, "seed " + seed);
            assertEquals(all, notes.body.toString(), "seed " + seed);
        }
    }

    @Test
    void a_stream_goes_on_with_its_first_event() {
        FirstLook look = look(200, "text/event-stream; charset=utf-8");
        assertEquals(List.of("200"), notes.heads, "at once");
        look.data(bytes(ROLE), 0, ROLE.length());
        assertEquals(ROLE, notes.body.toString(), "at once");
        byte[] late = bytes("data: " + FULL + "\n\n");
        look.data(late, 0, late.length);
        assertEquals(ROLE + "data: " + FULL + "\n\n", notes.body.toString());
        assertEquals(List.of(), full, "what comes later is no first event");
    }

    @Test
    void the_preamble_of_the_responses_api_is_no_first_event() {
        FirstLook look = look(200, "text/event-stream");
        String preamble =
                """
                event: response.created
                data: {"type":"response.created"}

                event: x
                data: {"type":"response.in_progress"}

                """;
        look.data(bytes(preamble), 0, preamble.length());
        assertEquals(preamble, notes.body.toString(), "at once");
        byte[] failed =
                bytes(
                        "data: {\"type\":\"response.failed\",\"response\":{\"error\":{"
                                + "\"message\":\"The request queue is full.\"}}}\n\n");
        look.data(failed, 0, failed.length);
        assertEquals(1, full.size());
    }

    @Test
    void what_is_too_long_to_be_a_refusal_is_not_held() {
        for (String type : List.of("application/json", "text/event-stream")) {
            notes.heads.clear();
            FirstLook look = look(type.startsWith("a") ? 503 : 200, type);
            byte[] much = bytes("data: " + "x".repeat(20_000));
            look.data(much, 0, much.length);
            assertEquals(1, notes.heads.size(), type);
            look.end(much, 0, 10);
            assertEquals(List.of(), full);
        }
    }

    @Test
    void a_broken_answer_has_had_its_head() {
        FirstLook look = look(503, "application/json");
        look.data(bytes("{"), 0, 1);
        look.failed(new GatewayError.UpstreamBroke("w", 1));
        assertEquals(List.of("503"), notes.heads);
        assertTrue(notes.failed);
        assertEquals(List.of(), full);
    }
}
