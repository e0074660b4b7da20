package io.warmpath.load;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * The tracker against its rules written down literally: every running request holds each of its
 * blocks by name, a rank's load is the sum over its different blocks. Random prompts from a small
 * alphabet branch everywhere, so that stretches are divided and joined all the time.
 */
class SlotManagerOracleTest {
    private static final int BLOCK = 2;
    private static final int RANKS = 4;
    private static final int STEPS = 6_000;

    @Test
    void load_and_shared_blocks_are_those_of_the_literal_rules() {
        for (int round = 0; round < 8; round++) {
            check(System.nanoTime() + round, false);
        }
    }

    @Test
    void decaying_blocks_are_those_of_the_literal_rules() {
        for (int round = 0; round < 8; round++) {
            check(System.nanoTime() + round, true);
        }
    }

    private static void check(long seed, boolean output) {
        SplittableRandom random = new SplittableRandom(seed);
        LoadTracker tracker =
                new LoadTracker(
                        new AtomicLong()::get,
                        new LoadOptions(Duration.ofMinutes(5), true, output, true),
                        seed);
        List<Request> running = new ArrayList<>();
        List<Map<String, Block>> ranks = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            ranks.add(new HashMap<>());
        }
        for (int step = 0; step < STEPS; step++) {
            String where = "seed " + seed + " step " + step;
            switch (random.nextInt(output ? 6 : 5)) {
                case 0, 1 -> running.add(new Request(tracker, ranks, random));
                case 2 -> {
                    if (!running.isEmpty()) {
                        running.get(random.nextInt(running.size())).firstToken();
                    }
                }
                case 5 -> {
                    if (!running.isEmpty()) {
                        running.get(random.nextInt(running.size())).more(random);
                    }
                }
                default -> {
                    if (!running.isEmpty() && (running.size() > 40 || random.nextBoolean())) {
                        int which = random.nextInt(running.size());
                        running.remove(which).close();
                    }
                }
            }
            compare(tracker, running, ranks, random, where);
        }
        while (!running.isEmpty()) {
            running.removeLast().close();
        }
        compare(tracker, running, ranks, random, "seed " + seed + " at the end");
        assertEquals(0, tracker.open(), "seed " + seed);
        assertEquals(0, tracker.stretches(), "seed " + seed);
        for (int rank = 0; rank < RANKS; rank++) {
            assertEquals(WorkerLoad.IDLE, tracker.load(new WorkerSlot(rank)), "seed " + seed);
        }
    }

    private static void compare(
            LoadTracker tracker,
            List<Request> running,
            List<Map<String, Block>> ranks,
            SplittableRandom random,
            String where) {
        int[] prompt = prompt(random);
        PotentialBlocks potential =
                tracker.potential(List.of(tracker.name("m", "", prompt, BLOCK)));
        for (int rank = 0; rank < RANKS; rank++) {
            WorkerSlot slot = new WorkerSlot(rank);
            assertEquals(expected(running, ranks, rank), tracker.load(slot), where);
            assertEquals(shared(running, rank, prompt), potential.shared(slot), where);
        }
    }

    private static WorkerLoad expected(
            List<Request> running, List<Map<String, Block>> ranks, int rank) {
        long prefill = 0;
        int requests = 0;
        long units = ranks.get(rank).values().stream().mapToLong(b -> b.weight).sum();
        for (Request r : running) {
            if (r.rank == rank) {
                requests++;
                prefill += r.prefilled ? 0 : r.prompt.length;
                units += (long) r.ownBlocks() * r.weight;
            }
        }
        return new WorkerLoad(prefill, units / 65536.0, requests);
    }

    private static int shared(List<Request> running, int rank, int[] prompt) {
        int most = 0;
        for (Request r : running) {
            int same = 0;
            int limit = Math.min(prompt.length, r.prompt.length) / BLOCK;
            while (r.rank == rank && same < limit && sameBlock(r.prompt, prompt, same)) {
                same++;
            }
            most = Math.max(most, same);
        }
        return most;
    }

    private static boolean sameBlock(int[] a, int[] b, int block) {
        for (int i = block * BLOCK; i < (block + 1) * BLOCK; i++) {
            if (a[i] != b[i]) {
                return false;
            }
        }
        return true;
    }

    private static int[] prompt(SplittableRandom random) {
        int[] tokens = new int[random.nextInt(24)];
        int letters = 1 + random.nextInt(2);
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = random.nextInt(8) == 0 ? random.nextInt(letters) : 0;
        }
        return tokens;
    }

    /** A block that runs on a rank. */
    private static final class Block {
        int requests;
        int weight = 65536;
    }

    /** One request by the literal rules: its blocks by their whole text. */
    private static final class Request {
        final int rank;
        final int[] prompt;
        private final Map<String, Block> blocks;
        private final List<String> names = new ArrayList<>();
        private final LoadBook.Booking booking;
        private final int expectedOutput;
        private int output;
        int weight = 65536;
        boolean prefilled;

        Request(LoadTracker tracker, List<Map<String, Block>> ranks, SplittableRandom random) {
            rank = random.nextInt(RANKS);
            blocks = ranks.get(rank);
            prompt = prompt(random);
            expectedOutput = random.nextBoolean() ? 0 : 1 + random.nextInt(30);
            PromptBlocks named = tracker.name("m", "", prompt, BLOCK);
            booking = tracker.book(new WorkerSlot(rank), prompt.length, named, expectedOutput);
            StringBuilder name = new StringBuilder();
            for (int i = 0; i < prompt.length / BLOCK * BLOCK; i++) {
                name.append(prompt[i]).append(' ');
                if (i % BLOCK == BLOCK - 1) {
                    names.add(name.toString());
                }
            }
            for (String n : names) {
                Block block = blocks.computeIfAbsent(n, x -> new Block());
                block.requests++;
                block.weight = 65536;
            }
        }

        int ownBlocks() {
            int total = Math.ceilDiv(prompt.length, BLOCK);
            int now = Math.ceilDiv(prompt.length + output, BLOCK);
            return Math.max(total, now) - prompt.length / BLOCK;
        }

        void firstToken() {
            booking.firstToken();
            prefilled = true;
        }

        void more(SplittableRandom random) {
            int before = ownBlocks();
            output += 1 + random.nextInt(3);
            booking.progress(output);
            if (ownBlocks() > before && expectedOutput > 0) {
                weight = (int) (65536 * Math.max(0, 1 - (double) output / expectedOutput));
                for (String n : names) {
                    Block block = blocks.get(n);
                    block.weight = block.requests == 1 ? weight : block.weight;
                }
            }
        }

        void close() {
            booking.close();
            for (String n : names) {
                if (--blocks.get(n).requests == 0) {
                    blocks.remove(n);
                }
            }
        }
    }
}
