package io.warmpath.wiring.index;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.prompt.Overlaps;
import io.warmpath.gateway.prompt.PromptContent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.wiring.TestConfig;
import io.warmpath.wiring.memory.MemoryPlan;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which parts a configuration makes, and that they work together. */
class OverlapPartsTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int B = 16;
    private static final MemoryPlan PLAN = new MemoryPlan(2L << 30, 1L << 30);
    private static final int[] PROMPT = new int[10 * B];

    static {
        Arrays.setAll(PROMPT, i -> i);
    }

    private static OverlapParts parts(String... keysAndValues) {
        Map<String, String> properties = new HashMap<>();
        properties.put("warmpath.index.implementation", "java");
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.put("warmpath." + keysAndValues[i], keysAndValues[i + 1]);
        }
        return new OverlapParts(TestConfig.of(properties), PLAN, System::nanoTime);
    }

    private static Candidate open(OverlapParts parts) {
        WorkerSlot slot = parts.slots().open(1);
        Worker worker =
                Worker.builder(1, "w", URI.create("http://w"))
                        .kind(EngineKind.VLLM)
                        .models(Set.of("m"))
                        .blockSize(B)
                        .ranks(List.of(new Worker.Rank(0, slot)))
                        .build();
        return new Candidate(worker, 0, slot);
    }

    /** Blocks of the prompt that the candidate is taken to hold. */
    private static int held(OverlapParts parts, String model, Candidate to) {
        return parts.overlaps()
                .matches(model, PrefixSpace.NONE, List.of(to), PromptContent.of(PROMPT))
                .getFirst()
                .depth(to.slot(), Tier.GPU);
    }

    private static void book(OverlapParts parts, String model, Candidate to) {
        parts.overlaps().booked(model, PrefixSpace.NONE, to, PromptContent.of(PROMPT));
    }

    @Test
    void with_the_cost_in_blocks_events_fill_the_index_and_decisions_do_not() {
        try (OverlapParts parts = parts("router.cost", "blocks")) {
            assertTrue(parts.followsEvents());
            Candidate to = open(parts);
            assertEquals(1, parts.index().stats().slots());
            book(parts, "m", to);
            assertEquals(0, held(parts, "m", to));
        }
    }

    @Test
    void with_a_weight_of_0_there_is_no_index_and_still_slots() {
        try (OverlapParts parts = parts("router.overlap-score-weight", "0")) {
            assertFalse(parts.followsEvents());
            assertNull(parts.index());
            assertSame(Overlaps.NONE, parts.overlaps());
            Candidate to = open(parts);
            book(parts, "m", to);
            parts.slots().close(to.slot());
        }
    }

    @Test
    void without_events_decisions_fill_the_index_for_their_time() {
        try (OverlapParts parts = parts("router.use-kv-events", "false", "router.ttl", "300ms")) {
            assertFalse(parts.followsEvents());
            Candidate to = open(parts);
            book(parts, "m", to);
            assertEquals(10, held(parts, "m", to));
            parts.start();
            await().atMost(SOON).until(() -> held(parts, "m", to) == 0);
        }
    }

    @Test
    void by_default_events_alone_say_what_is_held() {
        try (OverlapParts parts = parts()) {
            assertTrue(parts.followsEvents());
            Candidate to = open(parts);
            book(parts, "m", to);
            assertEquals(0, held(parts, "m", to));
            assertEquals(0, parts.index().stats().residencies());
            assertEquals(1, parts.index().stats().slots());
        }
    }

    @Test
    void a_predicted_time_puts_decisions_beside_the_events() {
        try (OverlapParts parts = parts("router.predicted-ttl", "0.3")) {
            assertTrue(parts.followsEvents());
            Candidate to = open(parts);
            PrefixIndex events = parts.index();
            book(parts, "m", to);
            assertEquals(10, held(parts, "m", to));
            assertEquals(0, events.stats().residencies(), "the index of events is left alone");
            assertEquals(1, events.stats().slots());
            parts.start();
            await().atMost(SOON).until(() -> held(parts, "m", to) == 0);
            parts.slots().close(to.slot());
            assertEquals(0, events.stats().slots());
        }
    }

    @Test
    void in_mode_vllm_cache_aware_trackers_have_the_settings_of_their_model() {
        String group = "routing.vllm-cache-aware.";
        try (OverlapParts parts =
                parts(
                        "router.mode",
                        "vllm_cache_aware",
                        group + "eviction-interval-secs",
                        "20ms",
                        group + "max-blocks-per-backend",
                        "7",
                        group + "models.\"org/small.v1\".max-blocks-per-backend",
                        "3",
                        group + "models.\"org/small.v1\".block-size",
                        "32")) {
            assertFalse(parts.followsEvents());
            assertNull(parts.index());
            Candidate to = open(parts);
            book(parts, "m", to);
            book(parts, "org/small.v1", to);
            assertEquals(10, held(parts, "m", to));
            assertEquals(5, held(parts, "org/small.v1", to));
            parts.start();
            await().atMost(SOON).until(() -> held(parts, "m", to) == 7);
            await().atMost(SOON).until(() -> held(parts, "org/small.v1", to) == 3);
            SimpleMeterRegistry meters = new SimpleMeterRegistry();
            parts.bind(meters);
            assertEquals(2, meters.get("warmpath.tracker.recorded").functionCounter().count());
            assertEquals(2, meters.get("warmpath.tracker.backends").gauge().value());
            assertEquals(10, meters.get("warmpath.tracker.blocks").gauge().value());
            parts.slots().close(to.slot());
            assertEquals(0, meters.get("warmpath.tracker.backends").gauge().value());
        }
    }
}
