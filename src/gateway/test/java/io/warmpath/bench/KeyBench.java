package io.warmpath.bench;

import io.warmpath.access.Budgets;
import io.warmpath.access.Caller;
import io.warmpath.access.Grant;
import io.warmpath.access.KeyHash;
import io.warmpath.access.KeyRecord;
import io.warmpath.access.KeyRing;
import io.warmpath.access.Verdict;
import io.warmpath.access.Visit;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What knowing a client costs a request: one of 10,000 keys of 46 characters, and its limits. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class KeyBench {
    private static final int KEYS = 10_000;

    private KeyRing ring;
    private int next;
    private final String[] shown = new String[KEYS];

    @Setup
    public void build() {
        List<KeyRecord> records = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            shown[i] = "wp-%043d".formatted(i);
            Grant grant =
                    new Grant(
                            "k" + i,
                            "t",
                            false,
                            List.of(),
                            Grant.MAX_PER_MINUTE,
                            Grant.MAX_PER_MINUTE,
                            "",
                            1,
                            false,
                            false,
                            false);
            records.add(new KeyRecord(KeyHash.of(shown[i]), grant, null));
        }
        ring = new KeyRing(records, new Budgets(KEYS), InstantSource.system(), System::nanoTime);
    }

    /** The look-up alone. */
    @Benchmark
    public Verdict check() {
        next = (next + 1) % KEYS;
        return ring.check(shown[next]);
    }

    /** With both limits, corrected at the end. */
    @Benchmark
    public long visit() {
        next = (next + 1) % KEYS;
        Visit visit = new Visit((Caller) ring.check(shown[next]), "t");
        visit.enter(100);
        visit.used(140);
        return visit.caller().tokens().limit();
    }
}
