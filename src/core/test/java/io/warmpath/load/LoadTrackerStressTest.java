package io.warmpath.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;

/**
 * Eight threads book, report first tokens and close in any order, also each other's bookings and
 * more than once. In the end every sum must be exactly zero. Two controls with one planted fault
 * each show that this harness notices.
 */
class LoadTrackerStressTest {
    private static final int THREADS = 8;
    private static final int STEPS = 40_000;
    private static final int SLOTS = 3;

    @Test
    void every_sum_returns_to_zero() throws Exception {
        long seed = System.nanoTime();
        LoadTracker tracker =
                new LoadTracker(
                        System::nanoTime,
                        new LoadOptions(Duration.ofMinutes(5), true, true, true),
                        seed);
        assertEquals(0, leftover(tracker, seed), "seed " + seed);
        assertEquals(0, tracker.open(), "seed " + seed);
        assertEquals(0, tracker.expired(), "seed " + seed);
        assertEquals(0, tracker.stretches(), "seed " + seed);
    }

    @Test
    void control_a_tracker_that_frees_twice_is_caught() throws Exception {
        assertTrue(leftover(new FreesTwice(), 1) != 0, "the harness missed a double free");
    }

    @Test
    void control_a_tracker_that_loses_updates_is_caught() throws Exception {
        // A race: caught in practically every run; twenty misses in a row mean a blind harness.
        for (int run = 0; run < 20; run++) {
            if (leftover(new LosesUpdates(), run) != 0) {
                return;
            }
        }
        throw new AssertionError("the harness missed lost updates twenty times");
    }

    /** Sum of the absolute loads of all slots after all threads closed everything. */
    private static long leftover(LoadBook book, long seed) throws Exception {
        AtomicReferenceArray<LoadBook.Booking> shared = new AtomicReferenceArray<>(64);
        CyclicBarrier start = new CyclicBarrier(THREADS);
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<?>> running = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                SplittableRandom random = new SplittableRandom(seed + t);
                running.add(threads.submit(worker(book, shared, start, random)));
            }
            for (Future<?> r : running) {
                r.get();
            }
        }
        for (int i = 0; i < shared.length(); i++) {
            close(shared.get(i));
        }
        long sum = 0;
        for (int i = 0; i < SLOTS; i++) {
            WorkerLoad load = book.load(new WorkerSlot(i));
            sum += Math.abs(load.prefillTokens()) + (long) Math.ceil(Math.abs(load.blocks()));
            sum += Math.abs(load.requests());
        }
        return sum;
    }

    private static Callable<Void> worker(
            LoadBook book,
            AtomicReferenceArray<LoadBook.Booking> shared,
            CyclicBarrier start,
            SplittableRandom random) {
        return () -> {
            await(start);
            for (int i = 0; i < STEPS; i++) {
                int place = random.nextInt(shared.length());
                switch (random.nextInt(4)) {
                    case 0, 1 -> {
                        WorkerSlot slot = new WorkerSlot(random.nextInt(SLOTS));
                        LoadBook.Booking mine =
                                book.book(slot, random.nextInt(5000), prompt(book, random), 100);
                        close(shared.getAndSet(place, mine));
                    }
                    case 2 -> {
                        LoadBook.Booking any = shared.get(place);
                        if (any != null) {
                            any.firstToken();
                            any.progress(random.nextInt(200));
                        }
                    }
                    default -> close(shared.get(place)); // stays there: closed again later
                }
            }
            return null;
        };
    }

    /** All begin alike, so they meet in one stripe; they part at any block. */
    private static PromptBlocks prompt(LoadBook book, SplittableRandom random) {
        int[] tokens = new int[4 + random.nextInt(300)];
        tokens[4 + random.nextInt(tokens.length - 3) - 1] = random.nextInt(3);
        return book.name("m", "", tokens, 4);
    }

    private static void close(LoadBook.Booking booking) {
        if (booking != null) {
            booking.close();
        }
    }

    private static void await(CyclicBarrier barrier) throws InterruptedException {
        try {
            barrier.await();
        } catch (BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Planted fault: closing is not idempotent. */
    private static final class FreesTwice implements LoadBook {
        private final AtomicLongArray blocksOf = new AtomicLongArray(SLOTS);

        @Override
        public Booking book(
                WorkerSlot slot, int prefillTokens, PromptBlocks prompt, int expectedOutput) {
            blocksOf.addAndGet(slot.index(), prompt.total());
            return new Booking() {
                @Override
                public void firstToken() {}

                @Override
                public void close() {
                    blocksOf.addAndGet(slot.index(), -prompt.total());
                }
            };
        }

        @Override
        public WorkerLoad load(WorkerSlot slot) {
            return new WorkerLoad(0, blocksOf.get(slot.index()), 0);
        }

        @Override
        public long open() {
            return 0;
        }
    }

    /** Planted fault: sums are read, changed and written back without atomicity. */
    private static final class LosesUpdates implements LoadBook {
        private final long[] tokens = new long[SLOTS];

        @Override
        public Booking book(
                WorkerSlot slot, int prefillTokens, PromptBlocks prompt, int expectedOutput) {
            tokens[slot.index()] += prefillTokens;
            return new Booking() {
                private final AtomicBoolean done = new AtomicBoolean();

                @Override
                public void firstToken() {
                    if (done.compareAndSet(false, true)) {
                        tokens[slot.index()] -= prefillTokens;
                    }
                }

                @Override
                public void close() {
                    firstToken();
                }
            };
        }

        @Override
        public WorkerLoad load(WorkerSlot slot) {
            return new WorkerLoad(tokens[slot.index()], 0, 0);
        }

        @Override
        public long open() {
            return 0;
        }
    }
}
