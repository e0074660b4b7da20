package io.warmpath.bench;

import io.warmpath.upstream.answer.AnswerScanner;
import java.util.Arrays;
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

/** Reading along with one whole stream of 36 events, in pieces of {@code piece} bytes. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class AnswerBench {
    /** 300 cuts nearly every event; 65536 is the whole stream in one read. */
    @Param({"300", "65536"})
    public int piece;

    private byte[][] pieces;

    @Setup
    public void cut() {
        byte[] all = WireShapes.stream(32);
        int n = (all.length + piece - 1) / piece;
        pieces = new byte[n][];
        for (int i = 0; i < n; i++) {
            pieces[i] = Arrays.copyOfRange(all, i * piece, Math.min(all.length, (i + 1) * piece));
        }
        if (scanStream() != 768) {
            throw new IllegalStateException("the scanner does not see the stream's usage");
        }
    }

    @Benchmark
    public long scanStream() {
        AnswerScanner scanner = AnswerScanner.ofEvents();
        for (byte[] b : pieces) {
            scanner.scan(b, 0, b.length);
        }
        return scanner.cachedTokens();
    }
}
