package io.warmpath.events;

import static io.warmpath.events.HybridEngine.FULL;
import static io.warmpath.events.HybridEngine.SIZE;
import static io.warmpath.events.HybridEngine.STATE;
import static io.warmpath.events.HybridEngine.window;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.HybridEngine.Kind;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Models with several kinds of caches: what the index calls usable, after events as vLLM writes
 * them, is what vLLM's own search finds ({@link HybridEngine}).
 */
class HybridCachesTest {
    private static final int STEPS = Integer.getInteger("test.steps", 400);

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot slot = index.open(0);
    private final WorkerSlot plain = index.open(0);
    private final EventCounters counters = new EventCounters();
    private EventApplier applier = applier();

    @AfterEach
    void close() {
        index.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6})
    void what_is_usable_is_what_the_engine_finds(int model) {
        List<List<Kind>> models =
                List.of(
                        List.of(FULL, window(5)),
                        List.of(window(7), window(7), FULL),
                        List.of(STATE, FULL),
                        List.of(FULL, window(8), STATE, window(4)),
                        List.of(FULL, new Kind("sliding_window", 9, 2)),
                        List.of(window(6)),
                        List.of(FULL, FULL, new Kind("sliding_window_mla", 1, 1)));
        long seed = System.nanoTime();
        Random random = new Random(seed);
        HybridEngine engine = new HybridEngine(models.get(model), random);
        int hits = 0;
        for (int step = 0; step < STEPS; step++) {
            // Until a group has stored its first block nobody knows that there is one.
            int[] prompt = step == 0 ? new int[14 * SIZE] : prompt(random);
            String at = "seed " + seed + " step " + step;
            int hit = engine.hit(prompt);
            hits += hit;
            assertEquals(hit, usable(slot, prompt), at);
            assertEquals(0, usable(plain, prompt), at);
            switch (step == 0 ? 11 : random.nextInt(12)) {
                case 0 -> {
                    engine.copies.forEach(Map::clear);
                    if (random.nextBoolean()) {
                        told.clear();
                        applier.apply(batch(List.of(new KvEvent.Cleared())));
                    } else {
                        applier.apply(batch(everythingLeft()));
                    }
                }
                case 1 -> {
                    EventApplier next = applier();
                    next.restore(restarted());
                    applier = next;
                }
                case 2, 3, 4 -> applier.apply(batch(evictions(engine)));
                default -> applier.apply(batch(computed(engine, prompt, hit)));
            }
        }
        assertTrue(
                hits > STEPS / 10, "a run in which nothing is ever found proves nothing: " + hits);
        assertEquals(0, counters.dropped(DropReason.SPEC_KIND));
    }

    private final Map<List<Long>, Integer> told = new HashMap<>();

    private List<KvEvent> everythingLeft() {
        List<KvEvent> events = new ArrayList<>();
        told.forEach(
                (key, copies) -> {
                    for (int c = 0; c < copies; c++) {
                        events.add(removed(Math.toIntExact(key.getFirst()), key.getLast()));
                    }
                });
        told.clear();
        return events;
    }

    private List<SourceMark.SlotMemory> restarted() {
        List<SourceMark.SlotMemory> memories = applier.memories();
        index.hybrids().forget(slot);
        return memories;
    }

    private List<KvEvent> evictions(HybridEngine engine) {
        List<KvEvent> events = new ArrayList<>();
        for (int g = 0; g < engine.groups.size(); g++) {
            List<Long> held = new ArrayList<>(engine.copies.get(g).keySet());
            Collections.sort(held);
            Collections.shuffle(held, engine.random);
            for (long name : held.subList(0, held.size() / 3)) {
                engine.copies.get(g).computeIfPresent(name, (n, c) -> c == 1 ? null : c - 1);
                tell(g, name, -1);
                events.add(removed(g, name));
            }
        }
        Collections.shuffle(events, engine.random);
        return events;
    }

    /** The request computes what it has not found; windows and states are kept here and there. */
    private List<KvEvent> computed(HybridEngine engine, int[] prompt, int hit) {
        List<KvEvent> events = new ArrayList<>();
        for (int g = 0; g < engine.groups.size(); g++) {
            Kind kind = engine.groups.get(g);
            int stride = kind.stride();
            int from = hit / stride * stride;
            int to = prompt.length / SIZE / stride * stride;
            if (to <= from) {
                continue;
            }
            boolean alone = engine.groups.size() == 1;
            List<Long> kept = new ArrayList<>();
            for (int end = from + stride; end <= to; end += stride) {
                if (kind.full() || alone || engine.random.nextInt(3) > 0) {
                    long name = engine.name(prompt, end);
                    engine.copies.get(g).merge(name, 1, Integer::sum);
                    tell(g, name, 1);
                    kept.add(name);
                }
            }
            events.add(
                    new KvEvent.Stored(
                            kept.stream().mapToLong(Long::longValue).toArray(),
                            from > 0,
                            from > 0 ? engine.name(prompt, from) : 0,
                            Arrays.copyOfRange(prompt, from * SIZE, to * SIZE),
                            false,
                            stride * SIZE,
                            "GPU",
                            null,
                            false,
                            null,
                            kept.size(),
                            null,
                            new KvEvent.Scope(g, kind.kind(), kind.window(), null)));
        }
        return events;
    }

    private void tell(int group, long name, int change) {
        told.merge(List.of((long) group, name), change, (a, b) -> a + b == 0 ? null : a + b);
    }

    private static KvEvent removed(int group, long name) {
        return new KvEvent.Removed(
                new long[] {name}, "GPU", new KvEvent.Scope(group, null, 0, null));
    }

    /** Few tokens and few lengths, so that prompts begin alike. */
    private static int[] prompt(Random random) {
        int[] prompt = new int[random.nextInt(14 * SIZE)];
        int same = random.nextInt(3);
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = random.nextInt(20) == 0 ? random.nextInt(2) : same;
        }
        return prompt;
    }

    @Test
    void a_window_needs_its_tail_alone_and_a_state_its_last_block() {
        int[] prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        KvEvent.Stored full = stored(0, "full_attention", 0, prompt, 11, 12, 13, 14);
        applier.apply(batch(List.of(full)));
        assertFalse(index.hybrids().any());
        assertEquals(4, usable(slot, prompt));
        applier.apply(
                batch(
                        List.of(
                                stored(1, "sliding_window", 4, prompt, 12, 13),
                                stored(2, "mamba", 0, prompt, 12, 13, 14))));
        assertEquals(
                0, usable(slot, prompt), "what came before the groups were known has no place");
        applier.apply(batch(List.of(full)));
        assertEquals(3, usable(slot, prompt));
        applier.apply(batch(List.of(removed(1, 12))));
        assertEquals(0, usable(slot, prompt), "two blocks are needed, or all of a shorter prefix");
    }

    /** vLLM names the salt in the first block of a prompt only, in the events of every group. */
    @Test
    void blocks_of_a_salt_are_another_tenants() {
        int[] prompt = {1, 2, 3, 4, 5};
        List<KvEvent> first = new ArrayList<>();
        List<KvEvent> second = new ArrayList<>();
        for (int g = 1; g >= 0; g--) {
            String kind = g == 0 ? "full_attention" : "sliding_window";
            first.add(block(g, kind, null, 11, new int[] {1, 2}, "team"));
            second.add(block(g, kind, 11L, 12, new int[] {3, 4}, null));
        }
        applier.apply(batch(first));
        applier.apply(batch(second));
        assertEquals(0, usable(slot, prompt));
        PrefixQuery salted = new PrefixQuery(prompt, 5, SIZE, new PrefixSpace("", "team"));
        assertEquals(2, index.match(salted).depth(slot, Tier.GPU));
    }

    private static KvEvent block(
            int group,
            String kind,
            @Nullable Long parent,
            long name,
            int[] tokens,
            @Nullable String salt) {
        return new KvEvent.Stored(
                new long[] {name},
                parent != null,
                parent == null ? 0 : parent,
                tokens,
                false,
                SIZE,
                "GPU",
                null,
                false,
                salt,
                1,
                null,
                new KvEvent.Scope(group, kind, group * 3, null));
    }

    @Test
    void another_process_may_have_other_groups_and_one_after_a_gap_has_the_same() {
        int[] prompt = {1, 2, 3, 4, 5};
        KvEvent full = stored(0, "full_attention", 0, prompt, 11, 12);
        applier.apply(batch(List.of(full, stored(1, "sliding_window", 4, prompt, 11, 12))));
        assertEquals(2, usable(slot, prompt));
        applier.forget(false);
        assertEquals(0, usable(slot, prompt));
        applier.apply(batch(List.of(full, removed(1, 11))));
        assertEquals(0, usable(slot, prompt), "the window's blocks are not known");
        applier.forget(true);
        applier.apply(batch(List.of(full)));
        assertEquals(2, usable(slot, prompt));
    }

    @Test
    void a_closed_slot_takes_no_groups_and_its_number_is_a_plain_one_again() {
        int[] prompt = {1, 2, 3, 4, 5};
        List<KvEvent> both =
                List.of(
                        stored(0, "full_attention", 0, prompt, 11, 12),
                        stored(1, "sliding_window", 4, prompt));
        applier.apply(batch(both));
        index.close(slot);
        applier = applier();
        applier.apply(batch(both));
        assertFalse(index.hybrids().any());
    }

    private static KvEvent.Stored stored(
            int group, String kind, int window, int[] prompt, long... names) {
        return new KvEvent.Stored(
                names,
                false,
                0,
                Arrays.copyOf(prompt, prompt.length / SIZE * SIZE),
                false,
                SIZE,
                "GPU",
                null,
                false,
                null,
                names.length,
                null,
                new KvEvent.Scope(group, kind, window, null));
    }

    private int usable(WorkerSlot of, int[] prompt) {
        return index.match(new PrefixQuery(prompt, prompt.length, SIZE, PrefixSpace.NONE))
                .depth(of, Tier.GPU);
    }

    private EventApplier applier() {
        return new EventApplier(
                new EventSource("w", 0, List.of(slot), "inproc://x", false, null, "", SIZE),
                index,
                counters,
                new SourceTally());
    }

    private static KvBatch batch(List<KvEvent> events) {
        return new KvBatch(1.5, 0, events, 0, 0);
    }
}
