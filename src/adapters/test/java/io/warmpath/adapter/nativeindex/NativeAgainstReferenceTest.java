package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.ApplyResult;
import io.warmpath.prefix.HybridSlots;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.RandomHistory;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random histories on the native index and on the reference: same answers, same sizes, after every
 * batch. Replay one with {@code -Dwarmpath.test.seed=N}; soak with {@code -Dtest.histories=N}.
 */
class NativeAgainstReferenceTest {
    private static final int HISTORIES = Integer.getInteger("test.histories", 120);
    private static final int BATCHES = 60;
    private static final int FIRST_SLOTS = 4;
    private static final int DOMAINS = 2;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void random_histories_are_answered_as_by_the_reference(boolean movingHashes) {
        Long replay = Long.getLong("warmpath.test.seed");
        long base = replay != null ? replay : System.nanoTime();
        for (int i = 0; i < (replay != null ? 1 : HISTORIES); i++) {
            long seed = base + i;
            boolean ghosts = seed % 2 == 0;
            try (PrefixIndex nativeIndex = nativeIndex(ghosts);
                    PrefixIndex reference = new ReferencePrefixIndex()) {
                compare(nativeIndex, reference, new RandomHistory(seed, movingHashes), ghosts);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(
                        "history "
                                + seed
                                + (movingHashes ? " (moving hashes)" : "")
                                + "; replay with -Dwarmpath.test.seed="
                                + seed,
                        e);
            }
        }
    }

    /** The comparison itself must notice an index that forgets one kind of event. */
    @ParameterizedTest
    @EnumSource(Lies.class)
    void control_an_index_that_loses_host_removals_is_caught(Lies lies) {
        AssertionError caught =
                assertThrows(
                        AssertionError.class,
                        () -> {
                            for (int seed = 0; seed < 20; seed++) {
                                try (PrefixIndex faulty = new LosesHostRemovals(lies);
                                        PrefixIndex reference = new ReferencePrefixIndex()) {
                                    compare(
                                            faulty,
                                            reference,
                                            new RandomHistory(seed, false),
                                            false);
                                }
                            }
                        });
        assertTrue(
                caught.getMessage().contains("query of") == (lies == Lies.MATCHES),
                caught.getMessage());
    }

    /** What a faulty index answers as if host removals had not come. */
    private enum Lies {
        MATCHES,
        BLOCKS
    }

    /** Histories in which nothing matches or waits would prove nothing. */
    @Test
    void control_the_histories_reach_deep_matches_holes_tiers_and_orphans() {
        long queries = 0;
        long hits = 0;
        long deep = 0;
        long tiered = 0;
        ApplyResult sum = ApplyResult.NONE;
        for (int seed = 0; seed < 50; seed++) {
            RandomHistory history = new RandomHistory(seed, false);
            try (PrefixIndex index = new ReferencePrefixIndex()) {
                List<WorkerSlot> slots = new ArrayList<>();
                for (int i = 0; i < FIRST_SLOTS; i++) {
                    slots.add(index.open(0));
                }
                for (int step = 0; step < BATCHES; step++) {
                    sum = sum.plus(index.apply(history.batch(slots)));
                    PrefixMatch match = index.match(history.query());
                    queries++;
                    hits += match.size() > 0 ? 1 : 0;
                    for (int i = 0; i < match.size(); i++) {
                        WorkerSlot slot = new WorkerSlot(match.slotAt(i));
                        deep += match.depth(slot, Tier.EXTERNAL) >= 4 ? 1 : 0;
                        boolean split =
                                match.depth(slot, Tier.GPU) < match.depth(slot, Tier.EXTERNAL);
                        tiered += split ? 1 : 0;
                    }
                }
            }
        }
        String seen = hits + " hits, " + deep + " deep, " + tiered + " tiered, " + sum;
        assertTrue(hits > queries / 5, seen);
        assertTrue(deep > queries / 20, seen);
        assertTrue(tiered > queries / 20, seen);
        assertTrue(sum.orphans() > 500 && sum.unknownRemoved() > 500, seen);
    }

    private static PrefixIndex nativeIndex(boolean ghosts) {
        return new NativePrefixIndex(
                Optional.empty(),
                NativePrefixIndex.DEFAULT_ORPHAN_LIMIT,
                ghosts ? NativePrefixIndex.DEFAULT_GHOST_PERCENT : NativePrefixIndex.NO_GHOSTS);
    }

    private static void compare(
            PrefixIndex tested, PrefixIndex reference, RandomHistory history, boolean ghosts) {
        List<WorkerSlot> slots = new ArrayList<>();
        List<WorkerSlot> closed = new ArrayList<>(); // their numbers have new owners
        for (int i = 0; i < FIRST_SLOTS; i++) {
            slots.add(open(tested, reference, history));
        }
        for (int step = 0; step < BATCHES; step++) {
            if (history.chance(3)) {
                WorkerSlot gone = slots.remove(history.below(slots.size()));
                tested.close(gone);
                reference.close(gone);
                slots.add(open(tested, reference, history));
                closed.add(gone);
            }
            List<PrefixEvent> batch =
                    history.batch(history.chance(10) ? with(slots, closed) : slots);
            assertEquals(reference.apply(batch), tested.apply(batch), "step " + step);
            assertEquals(sizes(reference), sizes(tested), "step " + step);
            assertEquals(blocks(reference), blocks(tested), "step " + step);
            long needed = reference.stats().blocks();
            long known = tested.stats().blocks();
            assertTrue(known >= needed, known + " blocks, step " + step);
            List<PrefixQuery> queries = new ArrayList<>();
            for (int q = 0; q < 6; q++) {
                queries.add(history.query());
            }
            List<PrefixMatch> together = tested.matchAll(queries);
            for (int q = 0; q < 6; q++) {
                PrefixQuery query = queries.get(q);
                assertEquals(
                        text(tested.match(query)),
                        text(together.get(q)),
                        "step " + step + ", query " + q + " of several");
                assertEquals(
                        text(reference.match(query)),
                        text(tested.match(query)),
                        "step " + step + ", query of " + query.blocks() + " blocks");
            }
        }
        if (!ghosts) {
            slots.forEach(tested::close);
            // What nobody needs is given back while events are applied.
            WorkerSlot last = tested.open(0);
            tested.apply(List.of(new PrefixEvent.Removed(last, Tier.GPU, new long[] {0})));
            assertEquals(0, tested.stats().blocks(), "kept for nobody");
        }
    }

    private static List<WorkerSlot> with(List<WorkerSlot> slots, List<WorkerSlot> closed) {
        List<WorkerSlot> all = new ArrayList<>(slots);
        all.addAll(closed);
        return all;
    }

    private static WorkerSlot open(
            PrefixIndex tested, PrefixIndex reference, RandomHistory history) {
        int domain = history.below(DOMAINS);
        WorkerSlot slot = reference.open(domain);
        assertEquals(slot, tested.open(domain));
        return slot;
    }

    private static List<Long> sizes(PrefixIndex index) {
        IndexStats s = index.stats();
        return List.of((long) s.slots(), s.residencies(), s.orphans(), s.moves());
    }

    /** Per slot number and tier, open or not. */
    private static List<List<Long>> blocks(PrefixIndex index) {
        SlotBlocks blocks = index.slotBlocks();
        return IntStream.range(0, FIRST_SLOTS + 1)
                .mapToObj(WorkerSlot::new)
                .map(slot -> Arrays.stream(Tier.values()).map(t -> blocks.in(slot, t)).toList())
                .toList();
    }

    private static String text(PrefixMatch match) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < match.size(); i++) {
            text.append(match.slotAt(i)).append(':');
            for (Tier tier : Tier.values()) {
                text.append(match.depth(new WorkerSlot(match.slotAt(i)), tier)).append(' ');
            }
        }
        return text.toString();
    }

    /** Planted fault: results and sizes are honest, one kind of answer misses the host removals. */
    private static final class LosesHostRemovals implements PrefixIndex {
        private final PrefixIndex honest = new ReferencePrefixIndex();
        private final PrefixIndex lossy = new ReferencePrefixIndex();
        private final Lies lies;

        LosesHostRemovals(Lies lies) {
            this.lies = lies;
        }

        @Override
        public WorkerSlot open(int domain) {
            lossy.open(domain);
            return honest.open(domain);
        }

        @Override
        public WorkerSlot openApproximate(int domain) {
            lossy.openApproximate(domain);
            return honest.openApproximate(domain);
        }

        @Override
        public long decide(WorkerSlot slot, PrefixQuery prompt, long nowMillis) {
            lossy.decide(slot, prompt, nowMillis);
            return honest.decide(slot, prompt, nowMillis);
        }

        @Override
        public long expire(long nowMillis) {
            lossy.expire(nowMillis);
            return honest.expire(nowMillis);
        }

        @Override
        public void close(WorkerSlot slot) {
            lossy.close(slot);
            honest.close(slot);
        }

        @Override
        public ApplyResult apply(List<? extends PrefixEvent> events) {
            lossy.apply(events.stream().filter(e -> !hostRemoval(e)).toList());
            return honest.apply(events);
        }

        private static boolean hostRemoval(PrefixEvent event) {
            return event instanceof PrefixEvent.Removed r && r.tier() == Tier.HOST;
        }

        @Override
        public PrefixMatch match(PrefixQuery query) {
            return (lies == Lies.MATCHES ? lossy : honest).match(query);
        }

        @Override
        public HybridSlots hybrids() {
            return honest.hybrids();
        }

        @Override
        public SlotBlocks slotBlocks() {
            return (lies == Lies.BLOCKS ? lossy : honest).slotBlocks();
        }

        @Override
        public IndexStats stats() {
            return honest.stats();
        }

        @Override
        public void close() {
            lossy.close();
            honest.close();
        }
    }
}
