package io.warmpath.gateway.selfcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.EngineTokenizer.Question;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class SelfCheckTest {
    private static final PromptInput CHAT =
            new PromptInput.Chat(List.of(new PromptInput.Message("user", "hi")), true);
    private static final PromptInput TEXT = new PromptInput.Text("hi");

    private final Queue<Runnable> later = new ArrayDeque<>();
    private final List<String> asked = new ArrayList<>();
    private int bodies;
    private long now;
    private final SelfCheck check =
            new SelfCheck(
                    (worker, question) -> {
                        asked.add(worker.name() + " " + new String(question.request(), UTF_8));
                        if (asked.size() > 1) {
                            throw new IOException("down");
                        }
                        return Optional.of(new int[] {1, 2});
                    },
                    later::add,
                    new SimpleMeterRegistry(),
                    () -> now);

    private static Worker worker(EngineKind kind) {
        return Worker.builder(1, "w", URI.create("http://w"))
                .kind(kind)
                .models(Set.of("m"))
                .blockSize(16)
                .ranks(List.of(new Worker.Rank(0, new WorkerSlot(0))))
                .build();
    }

    private SelfCheck.Check sent(EngineKind kind, PromptInput prompt) {
        Supplier<Question> question =
                () -> {
                    bodies++;
                    return new Question("m-there", "body".getBytes(UTF_8), null);
                };
        return check.sent("m", worker(kind), prompt, 3, () -> new int[] {1, 3, 4}, question);
    }

    private void answers(int count, PromptInput prompt, long length) {
        for (int i = 0; i < count; i++) {
            sent(EngineKind.VLLM, prompt).answered(length);
        }
    }

    @Test
    void trust_is_lost_by_model_engine_and_form_alone() {
        answers(12, CHAT, 9);
        assertEquals(Set.of(EngineKind.VLLM), check.distrusted("m", CHAT));
        assertEquals(Set.of(), check.distrusted("m", TEXT));
        assertEquals(Set.of(), check.distrusted("other", CHAT));
        assertEquals(Set.of("m: plain chats"), check.distrusted(EngineKind.VLLM));
        assertEquals(Set.of(), check.distrusted(EngineKind.SGLANG));
        answers(16, CHAT, 3);
        assertEquals(Set.of(), check.distrusted("m", CHAT));
    }

    @Test
    void no_request_is_kept_while_all_is_well() {
        answers(50, CHAT, 3);
        assertEquals(0, bodies);
        answers(1, CHAT, 9);
        assertEquals(0, bodies, "the next one will be");
        answers(1, CHAT, 9);
        assertEquals(1, bodies);
    }

    @Test
    void one_request_at_a_time_is_kept_and_a_lost_one_makes_room() {
        answers(1, CHAT, 9);
        assertNotNull(sent(EngineKind.VLLM, CHAT).witness);
        assertNull(sent(EngineKind.VLLM, CHAT).witness);
        now += 31_000_000_000L;
        assertNotNull(sent(EngineKind.VLLM, CHAT).witness);
    }

    @Test
    void the_engine_is_asked_once_off_the_calling_thread_and_not_again_at_once() {
        answers(12, CHAT, 9);
        assertEquals(List.of(), asked);
        assertEquals(1, later.size());
        later.remove().run();
        assertEquals(List.of("w body"), asked);
        answers(16, CHAT, 3);
        answers(30, CHAT, 9);
        assertEquals(0, later.size(), "ten seconds have not passed");
        now += 10_000_000_000L;
        answers(30, CHAT, 9);
        assertEquals(1, later.size(), "what the warning could not say");
        later.remove().run();
        now += 10_000_000_000L;
        answers(30, CHAT, 9);
        assertEquals(0, later.size());
        assertEquals(2, asked.size());
    }

    @Test
    void switched_off_nothing_is_compared() {
        Worker vllm = worker(EngineKind.VLLM);
        assertNull(SelfCheck.off().sent("m", vllm, CHAT, 3, () -> new int[3], () -> null));
        assertNotNull(check.sent("m", vllm, CHAT, 3, () -> new int[3], () -> null));
    }

    @Test
    void prompts_without_predicted_ids_of_ours_are_not_compared() {
        assertNull(sent(EngineKind.VLLM, new PromptInput.Ids(new int[] {1})));
        assertNull(sent(EngineKind.VLLM, new PromptInput.Opaque("batch")));
        assertNull(check.sent("m", worker(EngineKind.VLLM), CHAT, 0, () -> new int[0], () -> null));
    }

    @Test
    void the_first_difference_is_told_in_blocks() {
        int[] here = new int[40];
        int[] there = new int[40];
        there[33] = 7;
        String told = FirstDifference.of(here, there).inBlocks(16);
        assertTrue(told.startsWith("they part in block 2, at token 33: here [0, 0"), told);
        assertTrue(told.contains("there [7, 0"), told);
        String shorter = FirstDifference.of(new int[3], new int[2]).inBlocks(0);
        assertEquals("they part at token 2: here [0] and the end, there [] and the end", shorter);
    }
}
