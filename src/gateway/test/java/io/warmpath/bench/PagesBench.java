package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativePageDigests;
import io.warmpath.pool.JdkPageDigests;
import io.warmpath.pool.PageDigests;
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
import org.openjdk.jmh.annotations.Warmup;

/** Page digests of one prompt, pages of 64 tokens: as the gateway calls it, copies included. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class PagesBench {
    private static final int PAGE = 64;
    private static final byte[] NO_SEED = {};

    @Param({"jdk", "native"})
    public String sha;

    @Param({"1024", "8192", "102400"})
    public int tokens;

    private PageDigests digests;
    private int[] prompt;

    @Setup
    public void build() {
        digests =
                sha.equals("jdk") ? new JdkPageDigests() : new NativePageDigests(Optional.empty());
        prompt = new SplittableRandom(1).ints(tokens, 0, 150_000).toArray();
    }

    @Benchmark
    public byte[] chain() {
        return digests.chain(prompt, tokens, PAGE, false, NO_SEED);
    }
}
