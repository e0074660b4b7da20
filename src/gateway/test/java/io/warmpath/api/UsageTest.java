package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.UpstreamOptions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** The gateway asks for usage, and the client sees it only when it has asked, too. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class UsageTest {
    private static final String TOKENS =
            StreamingPathTest.ROLE + StreamingPathTest.token("a") + StreamingPathTest.token("b");

    @Parameter EnginePath path;

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        GatewayOptions asking = Options.of(o -> o.requestUsage = true);
        gateway = new Gateway(path, asking, UpstreamOptions.defaults(), Runnable::run);
        engine = new StubEngine(call -> stream(call, TOKENS, StreamingPathTest.USAGE));
        serve(EngineKind.VLLM);
    }

    private void serve(EngineKind kind) {
        gateway.fleet.workers(List.of(Gateway.worker(0, engine.url(), kind, WorkerState.READY, 1)));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    private static void stream(StubEngine.Call call, String... chunks) throws Exception {
        call.streamHead();
        for (String chunk : chunks) {
            call.chunk(chunk);
        }
        call.chunk(StreamingPathTest.DONE);
        call.lastChunk();
    }

    private String asked(int call) {
        return engine.calls.get(call).bodyText();
    }

    @Test
    void a_client_that_has_not_asked_gets_the_stream_without_the_report() throws Exception {
        assertEquals(TOKENS + StreamingPathTest.DONE, gateway.post(Gateway.ASK).body());
        assertTrue(asked(0).contains("\"stream_options\":{\"include_usage\":true}"), asked(0));
        assertEquals(48, gateway.meters.get("warmpath.cached.tokens.reported").counter().count());
    }

    /** What its engine owes an event about, should it publish any. */
    @Test
    void a_rank_is_told_of_blocks_that_it_must_have_computed() throws Exception {
        List<Integer> told = new CopyOnWriteArrayList<>();
        gateway.events =
                new EventWatch() {
                    @Override
                    public EventTrust of(Candidate rank) {
                        return EventTrust.OFF;
                    }

                    @Override
                    public void computed(Candidate rank, long began) {
                        told.add(rank.dpRank());
                    }
                };
        // 48 tokens are reported as cached, and blocks have 16.
        gateway.tokens.ids = new int[48 + 31];
        gateway.post(Gateway.ASK);
        assertEquals(List.of(), told, "less than two blocks may be the prompt's end");
        gateway.tokens.ids = new int[48 + 32];
        gateway.post(Gateway.ASK);
        assertEquals(List.of(0), told);
        gateway.tokens.ids = null;
        gateway.post(Gateway.ASK);
        assertEquals(1, told.size(), "a prompt of unknown tokens says nothing");
    }

    @Test
    void a_client_that_says_no_is_answered_as_one_that_says_nothing() throws Exception {
        String no =
                "{\"stream_options\":{\"include_usage\":false},\"model\":\"m\",\"stream\":true,"
                        + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
        assertEquals(TOKENS + StreamingPathTest.DONE, gateway.post(no).body());
        assertTrue(asked(0).contains("\"include_usage\":true"), asked(0));
    }

    @Test
    void a_client_that_has_asked_gets_the_report() throws Exception {
        String yes =
                "{\"stream_options\":{\"include_usage\":true},\"model\":\"m\",\"stream\":true,"
                        + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
        assertEquals(
                TOKENS + StreamingPathTest.USAGE + StreamingPathTest.DONE,
                gateway.post(yes).body());
        assertEquals(yes, asked(0));
    }

    @Test
    void neither_whole_answers_nor_engines_of_unknown_kind_are_asked() throws Exception {
        gateway.post(Gateway.ASK_WHOLE);
        assertEquals(Gateway.ASK_WHOLE, asked(0));
        serve(EngineKind.OPENAI);
        assertEquals(
                TOKENS + StreamingPathTest.USAGE + StreamingPathTest.DONE,
                gateway.post(Gateway.ASK).body());
        assertEquals(Gateway.ASK, asked(1));
    }

    @Test
    void the_report_is_taken_out_wherever_it_is_cut() throws Exception {
        String all =
                StreamingPathTest.token("c") + StreamingPathTest.USAGE + StreamingPathTest.DONE;
        for (int cut = 1; cut < all.length(); cut += 5) {
            int at = cut;
            engine.script(
                    call -> {
                        call.streamHead();
                        call.chunk(TOKENS);
                        call.chunk(all.substring(0, at));
                        call.chunk(all.substring(at));
                        call.lastChunk();
                    });
            assertEquals(
                    TOKENS + StreamingPathTest.token("c") + StreamingPathTest.DONE,
                    gateway.post(Gateway.ASK).body(),
                    "cut at " + at);
        }
    }

    @Test
    void usage_beside_tokens_stays_and_so_does_everything_else() throws Exception {
        String both =
                "data: {\"choices\":[{\"delta\":{\"content\":\"z\"}}],\"usage\":{\"prompt_tokens\":1}}"
                        + "\n\n";
        String comment = ": ping\n\n";
        engine.script(
                call -> stream(call, comment, both, StreamingPathTest.USAGE, comment, TOKENS));
        assertEquals(
                comment + both + comment + TOKENS + StreamingPathTest.DONE,
                gateway.post(Gateway.ASK).body());
    }

    @Test
    void lines_that_end_in_crlf_make_no_difference() throws Exception {
        String token = StreamingPathTest.token("a").replace("\n", "\r\n");
        String usage = StreamingPathTest.USAGE.replace("\n", "\r\n");
        String done = StreamingPathTest.DONE.replace("\n", "\r\n");
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(token + usage + done);
                    call.lastChunk();
                });
        String body = gateway.post(Gateway.ASK).body();
        assertFalse(body.contains("usage"), body);
        assertTrue(body.startsWith(token) && body.endsWith(done), body);
    }

    @Test
    void a_report_before_the_first_token_and_the_end_of_the_stream_are_no_special_cases()
            throws Exception {
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(StreamingPathTest.USAGE);
                    call.chunk(TOKENS);
                    call.chunk(StreamingPathTest.DONE + StreamingPathTest.USAGE);
                    call.lastChunk();
                });
        // What follows [DONE] is not read, and so not taken out.
        assertEquals(
                TOKENS + StreamingPathTest.DONE + StreamingPathTest.USAGE,
                gateway.post(Gateway.ASK).body());
    }
}
