package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import java.util.ArrayList;
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
 * A prompt of 4,096 tokens, 256 blocks of 16, that {@code workers} workers hold to its end: copied,
 * hashed and matched through the port as a request does it.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class PromptBench {
    private static final int BLOCK = 16;
    private static final int BLOCKS = 256;

    @Param({"8", "100"})
    public int workers;

    private PrefixIndex index;
    private PrefixQuery depths;

    @Setup
    public void fill() {
        index = new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
        SplittableRandom random = new SplittableRandom(1);
        int[] prompt = random.ints((long) BLOCKS * BLOCK, 0, 150_000).toArray();
        long[] hashes = random.longs(BLOCKS).toArray();
        List<PrefixEvent> events = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            events.add(
                    new PrefixEvent.Stored(
                            index.open(0),
                            Tier.GPU,
                            false,
                            0,
                            hashes,
                            prompt,
                            BLOCK,
                            PrefixSpace.NONE));
        }
        index.apply(events);
        depths = new PrefixQuery(prompt, prompt.length, BLOCK, PrefixSpace.NONE);
        PrefixMatch match = index.match(depths);
        for (int i = 0; i < workers; i++) {
            if (match.size() != workers || match.depthAt(i, Tier.GPU) != BLOCKS) {
                throw new IllegalStateException("the corpus is not what this benchmark says");
            }
        }
    }

    @TearDown
    public void close() {
        index.close();
    }

    @Benchmark
    public PrefixMatch hashAndMatch() {
        return index.match(depths);
    }
}
