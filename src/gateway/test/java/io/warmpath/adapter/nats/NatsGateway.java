package io.warmpath.adapter.nats;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.NumberedSlots;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.replica.ChangeQueue;
import io.warmpath.replica.PeerWork;
import io.warmpath.replica.ReplicaLog;
import io.warmpath.replica.ReplicaLoop;
import io.warmpath.replica.ReplicaOptions;
import io.warmpath.replica.ReplicaSync;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The load of one gateway, shared over a real NATS server. Closed by {@link #close} or killed. */
public final class NatsGateway implements Fleet, AutoCloseable {
    private static final ReplicaLog SILENT =
            new ReplicaLog() {
                @Override
                public void info(String text) {}

                @Override
                public void warn(String text) {}
            };

    private final ReplicaLoop loop = new ReplicaLoop();
    private final FleetSnapshot snapshot;
    private final List<WorkerSlot> slots = new ArrayList<>();
    private final NatsLink link;
    private final NatsReplicaLink line;
    public final LoadTracker load;
    public final ReplicaSync sync;

    public NatsGateway(NatsOptions server, long router, int workers) {
        ChangeQueue queue = new ChangeQueue(1 << 15, loop::wake);
        load = new LoadTracker(System::nanoTime, LoadOptions.DEFAULT, 5, queue);
        NumberedSlots numbers = new NumberedSlots();
        List<Worker> all = new ArrayList<>();
        for (int w = 0; w < workers; w++) {
            WorkerSlot slot = numbers.open(0, w, 0);
            load.forget(slot);
            slots.add(slot);
            all.add(
                    Worker.builder(w, "w" + w, URI.create("http://w" + w + ":1"))
                            .kind(EngineKind.VLLM)
                            .models(Set.of("m"))
                            .blockSize(16)
                            .ranks(List.of(new Worker.Rank(0, slot)))
                            .build());
        }
        snapshot = new FleetSnapshot(1, all);
        link = NatsLink.open(server, "gateway " + router, false);
        line = new NatsReplicaLink(link, "test.replicas", m -> received(m));
        sync =
                new ReplicaSync(
                        new ReplicaOptions(
                                router, System.nanoTime(), "gw" + router, Duration.ofMillis(100)),
                        load,
                        PeerWork.NONE,
                        queue,
                        this,
                        line,
                        System::nanoTime,
                        () -> {},
                        SILENT);
        line.start();
        loop.start(sync::tick, SILENT);
    }

    private void received(byte[] message) {
        ReplicaSync to = sync;
        if (to != null) { // the line may be faster than the constructor
            to.received(message);
        }
    }

    public WorkerSlot slot(int worker) {
        return slots.get(worker);
    }

    public int requests(int worker) {
        return load.load(slot(worker)).requests();
    }

    /** Others count here. */
    public long counted() {
        return sync.peers().stream().filter(p -> p.counted()).count();
    }

    @Override
    public FleetSnapshot snapshot() {
        return snapshot;
    }

    @Override
    public void reportFailure(long workerId) {}

    /** Without a word to the others. */
    public void kill() {
        loop.close();
        link.close();
    }

    @Override
    public void close() {
        loop.close();
        sync.close();
        line.close();
        link.close();
    }
}
