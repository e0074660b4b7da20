package io.warmpath.bench;

import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PotentialBlocks;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The slot manager under 100,000 running requests on 1,000 ranks.
 *
 * <p>Prompts of 256 blocks in a pool of 4,096 conversations: 32 blocks that {@code prompts} system
 * prompts share, 96 of a conversation, the rest its own. Making up a prompt is part of the figure.
 * With one system prompt all requests meet in one lock and its stretch is on every rank: the worst
 * case of a look-up.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class LoadBench {
    private static final int RANKS = 1000;
    private static final int RUNNING = 100_000;
    private static final int BLOCK = 16;
    private static final int BLOCKS = 256;
    private static final int POOL = 4096;

    @Param({"1", "64"})
    public int prompts;

    private final SplittableRandom random = new SplittableRandom(11);
    private final WorkerSlot[] slots = new WorkerSlot[RANKS];
    private LoadTracker tracker;
    private LoadBook.Booking[] running;
    private final long[][] conversations = new long[POOL][BLOCKS];
    private long named;
    private int next;
    private final int[] tokens = new SplittableRandom(5).ints(BLOCK * BLOCKS).toArray();

    @Setup
    public void build() {
        tracker =
                new LoadTracker(
                        System::nanoTime,
                        new LoadOptions(Duration.ofHours(1), true, false, true),
                        7);
        for (int i = 0; i < RANKS; i++) {
            slots[i] = new WorkerSlot(i);
        }
        for (int i = 0; i < POOL; i++) {
            for (int block = 0; block < 128; block++) {
                // The names of a chain: whoever shares block 31 shares all before it.
                long owner = block < 32 ? i % prompts : POOL + i;
                conversations[i][block] = new SplittableRandom(owner << 20 | block).nextLong();
            }
        }
        running = new LoadBook.Booking[RUNNING];
        for (int i = 0; i < RUNNING; i++) {
            running[i] = tracker.book(slots[i % RANKS], 1000, prompt(), 0);
        }
    }

    private PromptBlocks prompt() {
        long[] chain = conversations[random.nextInt(POOL)].clone();
        for (int block = 128; block < BLOCKS; block++) {
            chain[block] = ++named * 0x9e3779b97f4a7c15L;
        }
        return new PromptBlocks(BLOCK, BLOCK * BLOCKS, chain, true);
    }

    /** One request ends, another begins. */
    @Benchmark
    public LoadBook.Booking bookAndRelease() {
        int at = next++ % RUNNING;
        running[at].firstToken();
        running[at].close();
        LoadBook.Booking booking = tracker.book(slots[at % RANKS], 1000, prompt(), 0);
        running[at] = booking;
        return booking;
    }

    /** New blocks of one prompt on all ranks, and the load of all ranks. */
    @Benchmark
    public double scoreAllRanks() {
        PromptBlocks prompt = prompt();
        PotentialBlocks potential = tracker.potential(List.of(prompt));
        double sum = 0;
        for (WorkerSlot slot : slots) {
            sum += tracker.load(slot).blocks() + potential.added(slot, BLOCKS);
        }
        return sum;
    }

    /** The names of 256 blocks of 16 tokens. */
    @Benchmark
    public PromptBlocks name() {
        return tracker.name("m", "", tokens, BLOCK);
    }
}
