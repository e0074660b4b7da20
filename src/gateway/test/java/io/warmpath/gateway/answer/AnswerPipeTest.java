package io.warmpath.gateway.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What reaches the client of an engine's bytes, and when. */
class AnswerPipeTest {
    private static final String ROLE =
            "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n";
    private static final String TOKEN =
            "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    private static final String USAGE =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n";
    private static final String DONE = "data: [DONE]\n\n";

    private final Client client = new Client();
    private long received;

    /** Keeps what it gets. */
    private static final class Client implements Answer {
        private final StringBuilder text = new StringBuilder();
        private boolean ended;

        @Override
        public void head(int status, MultiMap engine, @Nullable MultiMap own, boolean length) {}

        @Override
        public void keepAlive() {}

        @Override
        public void write(byte[] b, int from, int length) {
            text.append(new String(b, from, length, StandardCharsets.UTF_8));
        }

        @Override
        public void end(byte[] b, int from, int length) {
            write(b, from, length);
            ended = true;
        }

        @Override
        public void fail(GatewayError error) {}

        @Override
        public void endWithErrorEvent(GatewayError error) {}

        @Override
        public void reset() {}

        @Override
        public boolean isFull() {
            return false;
        }

        @Override
        public void onDrain(Runnable action) {}
    }

    private AnswerPipe stream(int holdBytes, boolean cutsUsage) {
        return new AnswerPipe(client, AnswerPipe.Kind.EVENTS, null, holdBytes, 1 << 16, cutsUsage);
    }

    /** As an attempt does; true when it is held back. */
    private boolean data(AnswerPipe pipe, String text, boolean released) {
        byte[] b = text.getBytes(StandardCharsets.UTF_8);
        received += b.length;
        int complete = pipe.scan(b, 0, b.length);
        boolean cut = pipe.cutUsage(b, 0, b.length, complete, received);
        int length = cut ? 0 : b.length;
        int whole = cut ? 0 : complete;
        if (!released && pipe.hold(b, 0, length, whole)) {
            return true;
        }
        pipe.pass(b, 0, length, whole);
        return false;
    }

    @Test
    void nothing_of_a_stream_is_seen_before_its_first_token() {
        AnswerPipe pipe = stream(1 << 16, false);
        assertTrue(data(pipe, ROLE, false));
        assertFalse(pipe.hasOutput());
        assertEquals("", client.text.toString());
        assertFalse(data(pipe, TOKEN, false));
        assertTrue(pipe.hasOutput());
        assertEquals(ROLE + TOKEN, client.text.toString());
    }

    @Test
    void what_becomes_too_long_is_not_held() {
        AnswerPipe pipe = stream(ROLE.length(), false);
        assertTrue(data(pipe, ROLE, false));
        assertFalse(data(pipe, ROLE, false));
        assertEquals(ROLE + ROLE, client.text.toString());
    }

    @Test
    void half_an_event_waits_for_its_other_half() {
        AnswerPipe pipe = stream(0, false);
        data(pipe, TOKEN + TOKEN.substring(0, 10), true);
        assertEquals(TOKEN, client.text.toString());
        assertTrue(pipe.isClean());
        data(pipe, TOKEN.substring(10), true);
        assertEquals(TOKEN + TOKEN, client.text.toString());
    }

    @Test
    void a_usage_report_that_the_client_has_not_asked_for_is_taken_out() {
        AnswerPipe pipe = stream(0, true);
        data(pipe, TOKEN, true);
        data(pipe, USAGE.substring(0, 20), true);
        data(pipe, USAGE.substring(20) + DONE, true);
        pipe.end(new byte[0], 0, 0);
        assertEquals(TOKEN + DONE, client.text.toString());
        assertTrue(client.ended);
        assertTrue(pipe.done());
    }

    @Test
    void the_report_stays_where_the_client_has_asked_for_it() {
        AnswerPipe pipe = stream(0, false);
        data(pipe, TOKEN + USAGE + DONE, true);
        pipe.end(new byte[0], 0, 0);
        assertEquals(TOKEN + USAGE + DONE, client.text.toString());
    }

    @Test
    void an_answer_in_one_piece_is_never_held() {
        AnswerPipe pipe =
                new AnswerPipe(client, AnswerPipe.Kind.JSON, null, 1 << 16, 1 << 16, false);
        assertFalse(data(pipe, "{\"choices\":", false));
        assertTrue(pipe.hasOutput());
        assertFalse(pipe.isStream());
        assertEquals("{\"choices\":", client.text.toString());
    }

    @Test
    void only_plain_answers_of_status_200_are_read_along_with() {
        MultiMap events = MultiMap.caseInsensitiveMultiMap();
        events.add("Content-Type", "Text/Event-Stream; charset=utf-8");
        assertEquals(AnswerPipe.Kind.EVENTS, AnswerPipe.Kind.of(200, events, false));
        assertEquals(AnswerPipe.Kind.OTHER, AnswerPipe.Kind.of(200, events, true));
        assertEquals(AnswerPipe.Kind.OTHER, AnswerPipe.Kind.of(503, events, false));
        events.add("Content-Encoding", "gzip");
        assertEquals(AnswerPipe.Kind.OTHER, AnswerPipe.Kind.of(200, events, false));
    }
}
