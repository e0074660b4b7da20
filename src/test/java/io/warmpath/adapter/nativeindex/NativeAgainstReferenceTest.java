package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.ApplyResult;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.RandomHistory;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random histories on the native index and on the reference: same answers, same sizes, after every
 * batch. Replay one with {@code -Dwarmpath.test.seed=N}; soak with {@code
 * -Dwarmpath.test.histories=N}.
 */
class NativeAgainstReferenceTest {
    private static final int HISTORIES = Integer.getInteger("warmpath.test.histories", 300);
    private static final int BATCHES = 60;
    private static final int FIRST_SLOTS = 4;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void random_histories_are_answered_as_by_the_reference(boolean movingHashes) {
        Long replay = Long.getLong("warmpath.test.seed");
        long base = replay != null ? replay : System.nanoTime();
        for (int i = 0; i < (replay != null ? 1 : HISTORIES); i++) {
            long seed = base + i;
            try (PrefixIndex nativeIndex = nativeIndex();
                    PrefixIndex reference = new ReferencePrefixIndex()) {
                compare(nativeIndex, reference, new RandomHistory(seed, movingHashes));
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
    @Test
    void control_an_index_that_loses_host_removals_is_caught() {
        assertThrows(
                AssertionError.class,
                () -> {
                    for (int seed = 0; seed < 20; seed++) {
                        try (PrefixIndex faulty = new LosesHostRemovals();
                                PrefixIndex reference = new ReferencePrefixIndex()) {
                            compare(faulty, reference, new RandomHistory(seed, false));
                        }
                    }
                });
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
                    slots.add(index.open(i, 0));
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

    private static PrefixIndex nativeIndex() {
        return new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
    }

    private static void compare(PrefixIndex tested, PrefixIndex reference, RandomHistory history) {
        List<WorkerSlot> slots = new ArrayList<>();
        for (int i = 0; i < FIRST_SLOTS; i++) {
            slots.add(open(tested, reference, i));
        }
        for (int step = 0; step < BATCHES; step++) {
            if (history.chance(3)) {
                WorkerSlot gone = slots.remove(history.below(slots.size()));
                tested.close(gone);
                reference.close(gone);
                List<PrefixEvent> late = history.batch(List.of(gone));
                assertEquals(reference.apply(late), tested.apply(late), "late events " + late);
                slots.add(open(tested, reference, 100 + step));
            }
            List<PrefixEvent> batch = history.batch(slots);
            assertEquals(reference.apply(batch), tested.apply(batch), "step " + step);
            assertEquals(sizes(reference), sizes(tested), "step " + step);
            for (int q = 0; q < 6; q++) {
                PrefixQuery query = history.query();
                assertEquals(
                        text(reference.match(query)),
                        text(tested.match(query)),
                        "step " + step + ", query of " + query.blocks() + " blocks");
            }
        }
    }

    private static WorkerSlot open(PrefixIndex tested, PrefixIndex reference, long worker) {
        WorkerSlot slot = reference.open(worker, 0);
        assertEquals(slot, tested.open(worker, 0));
        return slot;
    }

    private static IndexStats sizes(PrefixIndex index) {
        IndexStats s = index.stats();
        return new IndexStats(s.slots(), s.blocks(), s.residencies(), 0, s.orphans(), 0);
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

    /** Planted fault: results and sizes are honest, the answers miss the host removals. */
    private static final class LosesHostRemovals implements PrefixIndex {
        private final PrefixIndex honest = new ReferencePrefixIndex();
        private final PrefixIndex lossy = new ReferencePrefixIndex();

        @Override
        public WorkerSlot open(long workerId, int dpRank) {
            lossy.open(workerId, dpRank);
            return honest.open(workerId, dpRank);
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
            return lossy.match(query);
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
