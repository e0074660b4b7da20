package io.warmpath.bench;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.load.BookingListener;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.replica.ChangeQueue;
import io.warmpath.replica.PeerWork;
import io.warmpath.replica.ReplicaLink;
import io.warmpath.replica.ReplicaLog;
import io.warmpath.replica.ReplicaLoop;
import io.warmpath.replica.ReplicaOptions;
import io.warmpath.replica.ReplicaSync;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
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
 * What telling other gateways adds to the path of a request: one books, gets its first token and
 * ends; {@code alone} nobody listens, {@code told} the sync runs, its line swallows all, {@code
 * full} every change finds the queue full.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ReplicaBench {
    private static final ReplicaLog SILENT =
            new ReplicaLog() {
                @Override
                public void info(String text) {}

                @Override
                public void warn(String text) {}
            };

    private static final int BATCH = 2000;
    private static final int BATCHES = 200;

    @Param({"alone", "told", "full"})
    public String sync;

    private final WorkerSlot slot = new WorkerSlot(0);
    private final PromptBlocks prompt = PromptBlocks.unnamed(16, 4096);
    private final ReplicaLoop loop = new ReplicaLoop();
    private LoadTracker load;

    @Setup
    public void build() {
        ChangeQueue queue = new ChangeQueue(sync.equals("full") ? 1 : 1 << 15, loop::wake);
        load =
                new LoadTracker(
                        System::nanoTime,
                        LoadOptions.DEFAULT,
                        7,
                        sync.equals("alone") ? BookingListener.NONE : queue);
        load.book(slot, 1, prompt, 0); // of a full queue this one has the place
        if (sync.equals("told")) {
            ReplicaSync built =
                    new ReplicaSync(
                            new ReplicaOptions(1, 1, "bench", Duration.ofMillis(100)),
                            load,
                            PeerWork.NONE,
                            queue,
                            fleet(),
                            new Swallows(),
                            System::nanoTime,
                            () -> {},
                            SILENT);
            loop.start(built::tick, SILENT);
        }
    }

    @TearDown
    public void close() {
        loop.close();
    }

    private Fleet fleet() {
        FleetSnapshot snapshot =
                new FleetSnapshot(
                        1,
                        List.of(
                                Worker.builder(1, "w", URI.create("http://w:1"))
                                        .kind(EngineKind.VLLM)
                                        .models(Set.of("m"))
                                        .blockSize(16)
                                        .ranks(List.of(new Worker.Rank(0, slot)))
                                        .build()));
        return new Fleet() {
            @Override
            public FleetSnapshot snapshot() {
                return snapshot;
            }

            @Override
            public void reportFailure(long workerId) {}
        };
    }

    private static final class Swallows implements ReplicaLink {
        @Override
        public boolean send(byte[] message, int length) {
            return true;
        }

        @Override
        public boolean isUp() {
            return true;
        }

        @Override
        public int maxBytes() {
            return 1 << 20;
        }
    }

    @Benchmark
    public LoadBook.Booking atOnce() {
        LoadBook.Booking booking = load.book(slot, 1000, prompt, 0);
        booking.firstToken();
        booking.close();
        return booking;
    }

    /**
     * CPU nanoseconds of the request's thread, for machines too busy for JMH: in batches, with time
     * in between for the sync to take the changes, so that each of the three steps is told.
     */
    public static void main(String[] args) throws InterruptedException {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (int round = 0; round < 3; round++) {
            for (String sync : List.of("alone", "told", "full")) {
                ReplicaBench bench = new ReplicaBench();
                bench.sync = sync;
                bench.build();
                long cpu = 0;
                for (int batch = 0; batch < BATCHES; batch++) {
                    long nanos = bench.batch(threads);
                    cpu += batch < BATCHES / 2 ? 0 : nanos;
                }
                bench.close();
                System.out.println(
                        sync + ": " + cpu / ((BATCHES - BATCHES / 2) * BATCH) + " ns a request");
            }
        }
    }

    private long batch(ThreadMXBean threads) throws InterruptedException {
        LoadBook.Booking[] all = new LoadBook.Booking[BATCH];
        long cpu = -threads.getCurrentThreadCpuTime();
        for (int i = 0; i < BATCH; i++) {
            all[i] = load.book(slot, 1000, prompt, 0);
        }
        cpu += threads.getCurrentThreadCpuTime();
        Thread.sleep(5);
        cpu -= threads.getCurrentThreadCpuTime();
        for (LoadBook.Booking booking : all) {
            booking.firstToken();
        }
        cpu += threads.getCurrentThreadCpuTime();
        Thread.sleep(5);
        cpu -= threads.getCurrentThreadCpuTime();
        for (LoadBook.Booking booking : all) {
            booking.close();
        }
        cpu += threads.getCurrentThreadCpuTime();
        Thread.sleep(5);
        return cpu;
    }
}
