package io.warmpath.bench;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.load.BookingListener;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.replica.ChangeQueue;
import io.warmpath.replica.PeerWork;
import io.warmpath.replica.ReplicaLine;
import io.warmpath.replica.ReplicaLog;
import io.warmpath.replica.ReplicaLoop;
import io.warmpath.replica.ReplicaOptions;
import io.warmpath.replica.ReplicaSync;
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
 * full} every change finds the queue full. {@code apart} has pauses of some 2 µs between the three
 * steps, as if other work were done, and they are part of the figure: compare it with itself.
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
                                new Worker(
                                        1,
                                        "w",
                                        URI.create("http://w:1"),
                                        EngineKind.VLLM,
                                        Set.of("m"),
                                        16,
                                        WorkerState.READY,
                                        List.of(new Worker.Rank(0, slot)))));
        return new Fleet() {
            @Override
            public FleetSnapshot snapshot() {
                return snapshot;
            }

            @Override
            public void reportFailure(long workerId) {}
        };
    }

    private static final class Swallows implements ReplicaLine {
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

    @Benchmark
    public LoadBook.Booking apart() {
        LoadBook.Booking booking = load.book(slot, 1000, prompt, 0);
        pause();
        booking.firstToken();
        pause();
        booking.close();
        pause();
        return booking;
    }

    private static void pause() {
        for (int i = 0; i < 50; i++) {
            Thread.onSpinWait();
        }
    }
}
