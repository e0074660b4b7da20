package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One native query as a request makes it: tokens in, depths out.
 *
 * <p>{@code workers} workers share a system prompt of a quarter of the blocks; every eighth holds
 * the whole prompt.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class MatchBench {
    private static final int BLOCK = 16;

    @Param({"100"})
    public int workers;

    @Param({"64", "512"})
    public int blocks;

    private PrefixIndex index;
    private PrefixQuery held;
    private PrefixQuery unknown;

    @Setup
    public void fill() {
        index = new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
        SplittableRandom random = new SplittableRandom(1);
        int[] prompt = random.ints((long) blocks * BLOCK, 0, 150_000).toArray();
        int[] other = random.ints((long) blocks * BLOCK, 0, 150_000).toArray();
        long[] hashes = random.longs(blocks).toArray();
        List<PrefixEvent> events = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            WorkerSlot slot = index.open(0);
            int count = i % 8 == 0 ? blocks : blocks / 4;
            events.add(
                    new PrefixEvent.Stored(
                            slot,
                            Tier.GPU,
                            false,
                            0,
                            Arrays.copyOf(hashes, count),
                            Arrays.copyOf(prompt, count * BLOCK),
                            BLOCK,
                            PrefixSpace.NONE));
        }
        index.apply(events);
        held = new PrefixQuery(prompt, prompt.length, BLOCK, PrefixSpace.NONE);
        unknown = new PrefixQuery(other, other.length, BLOCK, PrefixSpace.NONE);
        if (index.match(held).size() != workers || index.match(unknown).size() != 0) {
            throw new IllegalStateException("the corpus is not what this benchmark says");
        }
    }

    @TearDown
    public void close() {
        index.close();
    }

    @Benchmark
    public PrefixMatch matchHeldPrompt() {
        return index.match(held);
    }

    @Benchmark
    public PrefixMatch matchUnknownPrompt() {
        return index.match(unknown);
    }
}
