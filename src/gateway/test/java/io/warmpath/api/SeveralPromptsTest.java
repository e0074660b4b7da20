package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.WorkerState;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Requests with several prompts, or several answers, on their way: every prompt has 40 tokens, of
 * which the index finds three blocks of 16, and two can come from a cache.
 */
@ExtendWith(Leaks.class)
class SeveralPromptsTest {
    private static final String COMPLETIONS = "/v1/completions";
    private static final String NOT_EXACT = "warmpath.predictions.not.exact";

    private Gateway gateway;
    private StubEngine engine;
    private volatile int reported = 32;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
        engine =
                new StubEngine(
                        call -> {
                            String details =
                                    reported < 0 ? "null" : "{\"cached_tokens\":" + reported + "}";
                            call.json(
                                    200,
                                    """
                                    {"choices":[{"index":0,"text":"a"}],"usage":{"prompt_tokens":80,\
                                    "completion_tokens":2,"prompt_tokens_details":%s}}"""
                                            .formatted(details));
                        });
        gateway.events = rank -> EventTrust.believed(EventView.EXACT);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    private void serve(EngineKind kind) {
        gateway.fleet.workers(List.of(Gateway.worker(0, engine.url(), kind, WorkerState.READY, 1)));
    }

    private RawClient.Answer ask(String members) throws Exception {
        return RawClient.post(
                gateway.port,
                COMPLETIONS,
                "{\"model\":\"m\"," + members + "}",
                "x-warmpath-explain: 1");
    }

    @ParameterizedTest
    @CsvSource({
        // Of the last prompt, whatever the first one has.
        "VLLM, '\"prompt\":[\"a\",\"b\"]', 32,",
        // Of both.
        "SGLANG, '\"prompt\":[\"a\",\"b\"]', 64,",
        "SGLANG, '\"prompt\":[[1],[2],[3]]', 96,",
        "SGLANG, '\"prompt\":\"a\",\"n\":3', 32,",
        "VLLM, '\"prompt\":\"a\",\"n\":3', 32,",
        "OPENAI, '\"prompt\":[\"a\",\"b\"]', , several prompts",
        "OPENAI, '\"prompt\":\"a\",\"n\":2', , several answers",
        "VLLM, '\"prompt\":\"a\",\"prompt_logprobs\":1', , log probabilities of the prompt"
    })
    void what_the_engine_will_report_is_said(
            EngineKind kind, String members, Integer predicted, String why) throws Exception {
        serve(kind);
        reported = predicted == null ? 0 : predicted;
        RawClient.Answer answer = ask(members);
        assertEquals(200, answer.status());
        assertEquals(
                predicted == null ? null : predicted.toString(),
                answer.header("x-warmpath-predicted-cached-tokens"));
        assertEquals(why, answer.header("x-warmpath-not-predicted"));
        assertNull(answer.header("x-warmpath-not-exact"));
        assertEquals(
                why == null ? 1 : 0, gateway.counter("warmpath.predictions", "result", "equal"));
        double doubted = 0;
        for (String reason : List.of("several_prompts", "several_answers", "prompt_logprobs")) {
            doubted += gateway.counter(NOT_EXACT, "reason", reason);
        }
        assertEquals(why == null ? 0 : 1, doubted);
    }

    @Test
    void each_prompt_is_looked_up_and_all_of_them_are_booked() throws Exception {
        serve(EngineKind.SGLANG);
        gateway.forget();
        assertEquals(200, ask("\"n\":2,\"prompt\":[\"a\",\"b\",\"c\"]").status());
        assertEquals(120, gateway.router.requests.getLast().promptTokens());
        assertEquals(
                6, gateway.router.requests.getLast().match(16).depth(new WorkerSlot(0), Tier.GPU));
        List<Integer> booked = gateway.books.prompts.stream().map(PromptBlocks::tokens).toList();
        assertEquals(List.of(120, 0, 0, 0, 0, 0), booked, "one prefill, three times two decodes");
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        assertEquals(6, gateway.books.firstTokens.get());
    }

    @Test
    void an_engine_that_says_nothing_and_one_whose_events_are_behind_are_counted()
            throws Exception {
        serve(EngineKind.VLLM);
        reported = -1;
        RawClient.Answer answer = ask("\"prompt\":\"a\"");
        assertEquals("48", answer.header("x-warmpath-predicted-cached-tokens"));
        assertEquals(1, gateway.counter(NOT_EXACT, "reason", "not_reported"));
        reported = 48;
        gateway.events = rank -> EventTrust.believed(EventView.LAGGING);
        answer = ask("\"prompt\":\"a\"");
        assertEquals("the worker's events are behind", answer.header("x-warmpath-not-exact"));
        assertEquals("48", answer.header("x-warmpath-predicted-cached-tokens"));
        assertEquals(1, gateway.counter(NOT_EXACT, "reason", "events_behind"));
        assertEquals(1, gateway.counter("warmpath.predictions", "result", "equal"));
    }
}
