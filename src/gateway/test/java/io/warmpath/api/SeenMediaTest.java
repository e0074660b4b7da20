package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.Medium;
import io.warmpath.tokens.template.LearntMedia;
import io.warmpath.tokens.template.PromptInput;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** SGLang names images by a hash of its own; by a tag in its events it is seen which. */
class SeenMediaTest {
    private static final Medium IMAGE = new Medium("image", "a", false, "image 1x1", "a");
    private static final int[] TEXT = {5, 9, 6, 7};
    private static final int[] STORED = {5, -1, -2, -3, -4, -1, 6, 7};
    private static final String CHAT =
            """
            {"model":"m","messages":[{"role":"user","content":[\
            {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}""";

    /** Hears what it listens to, as soon as it does where there is something already. */
    private static final class Events implements EventWatch {
        private final Map<String, Stored> listeners = new ConcurrentHashMap<>();
        private int[] already = {};

        @Override
        public EventTrust of(Candidate rank) {
            return EventTrust.OFF;
        }

        @Override
        public void listen(String tag, Stored listener) {
            listeners.put(tag, listener);
            if (already.length > 0) {
                assertFalse(listener.more(0, 18, already, 4));
            }
        }
    }

    private final Events events = new Events();
    private final LearntMedia learnt = new LearntMedia();
    private Gateway gateway;
    private StubEngine engine;
    private volatile String usage = "";

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
        engine = new StubEngine(call -> call.json(200, "{\"choices\":[],\"usage\":" + usage + "}"));
        gateway.events = events;
        gateway.tokens.first =
                prompt -> {
                    if (prompt instanceof PromptInput.Conversation chat) {
                        LearntMedia.Lesson lesson =
                                learnt.lesson(List.of(IMAGE), TEXT, new int[] {1});
                        chat.extent().lesson(EngineProfile.SGLANG, lesson);
                    }
                };
        serve(EngineKind.SGLANG, SessionSupport.STICKY);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    private void serve(EngineKind kind, SessionSupport sessions) {
        Worker worker = Gateway.worker(1, engine.url(), kind, WorkerState.READY, 1);
        gateway.fleet.workers(List.of(worker.toBuilder().sessions(sessions).build()));
    }

    /** Posts a chat of 8 tokens with an image. The tag that the engine was sent; empty: none. */
    private String ask(int cached) throws Exception {
        usage =
                "{\"prompt_tokens\":8,\"completion_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":"
                        + cached
                        + "}}";
        assertEquals(200, gateway.post(CHAT).status());
        JsonNode sent = new ObjectMapper().readTree(engine.calls.getLast().bodyText());
        assertEquals(1, sent.path("messages").size());
        return sent.path("session_id").asText();
    }

    private EventWatch.Stored listener(String tag) {
        EventWatch.Stored listener = events.listeners.get(tag);
        assertNotNull(listener, tag);
        return listener;
    }

    private boolean isKnown() {
        return learnt.ids(IMAGE) != null;
    }

    @Test
    void blocks_that_come_behind_the_answer_tell() throws Exception {
        String tag = ask(0);
        assertTrue(tag.startsWith("media-"), tag);
        assertFalse(listener(tag).more(0, 17, new int[] {5, -1, -2, -3}, 4));
        assertFalse(isKnown());
        listener(tag).more(17, 18, new int[] {-4, -1, 6, 7}, 4);
        await().until(this::isKnown);
        assertNotEquals(tag, ask(8));
    }

    @Test
    void blocks_that_come_before_the_answer_s_end_tell() throws Exception {
        events.already = STORED;
        ask(0);
        await().until(this::isKnown);
    }

    @Test
    void blocks_that_do_not_fit_the_answer_tell_nothing() throws Exception {
        assertFalse(listener(ask(4)).more(0, 18, STORED, 4));
        String tag = ask(0);
        assertFalse(listener(tag).more(0, 17, new int[] {5, -1, -2, -3}, 4));
        assertTrue(listener(tag).more(16, 18, new int[] {-4, -1, 6, 7}, 4)); // not behind these
        assertFalse(isKnown());
    }

    @Test
    void engines_that_keep_sessions_or_take_names_get_no_tag() throws Exception {
        serve(EngineKind.SGLANG, SessionSupport.RADIX);
        assertEquals("", ask(0));
        serve(EngineKind.VLLM, SessionSupport.STICKY);
        assertEquals("", ask(0));
        assertEquals(Map.of(), events.listeners);
    }
}
