package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.nats.NatsFiles;
import io.warmpath.adapter.nats.NatsKeys;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.state.Lease;
import io.warmpath.state.SharedSnapshots;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A shared snapshot written to a real nats-server on this machine, and an index taken up from it.
 * Main, as no JMH mode fits: {@code SharedRecovery RESIDENCIES DIRECTORY}.
 */
final class SharedRecovery {
    private static final int CHUNK = 4 << 20;

    private SharedRecovery() {}

    /**
     * @param publishSeconds index to file, upload, all of it read back, named
     * @param loadSeconds download, checked, into the index
     */
    record Recovery(
            long residencies,
            long bytes,
            double saveSeconds,
            double publishSeconds,
            double loadSeconds) {}

    public static void main(String[] args) throws Exception {
        Path folder = Files.createDirectories(Path.of(args[1]));
        Recovery r = run(Long.parseLong(args[0]), folder);
        System.out.printf(
                Locale.ROOT,
                "%d residencies, %d bytes: to a file in %.2f s, with upload and reading back in %.2f"
                        + " s, taken up in %.2f s%n",
                r.residencies,
                r.bytes,
                r.saveSeconds,
                r.publishSeconds,
                r.loadSeconds);
    }

    static Recovery run(long residencies, Path folder) throws Exception {
        NatsNames names = new NatsNames("bench", "recovery");
        CountDownLatch connected = new CountDownLatch(1);
        try (NatsServer server = NatsServer.start(folder.resolve("store"));
                NatsLink link = NatsLink.open(server.options(), "bench")) {
            link.listen(
                    now -> {
                        if (now) {
                            connected.countDown();
                        }
                    });
            if (!connected.await(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no connection");
            }
            NatsKeys keys = new NatsKeys(link, names.stateBucket(), Duration.ZERO);
            SharedSnapshots snapshots =
                    new SharedSnapshots(
                            keys,
                            new NatsFiles(link, names.snapshotBucket()),
                            NatsNames.SNAPSHOT,
                            CHUNK);
            Lease lease =
                    new Lease(keys, "lock", "bench", TimeUnit.MINUTES.toNanos(1), System::nanoTime);
            return measure(snapshots, lease, residencies, folder.resolve("scratch"));
        }
    }

    private static Recovery measure(
            SharedSnapshots snapshots, Lease lease, long residencies, Path scratch)
            throws Exception {
        long held;
        double saved;
        double published;
        long bytes;
        try (NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0)) {
            List<Label> labels = new ArrayList<>();
            for (int i = 0; i < EventScale.SLOTS; i++) {
                labels.add(new Label(index.open(0), i + 1L, 0));
            }
            EventScale.fill(index, labels, residencies);
            held = index.stats().residencies();
            if (!lease.tryTake()) {
                throw new IllegalStateException("the lock is taken");
            }
            long at = System.nanoTime();
            SharedSnapshots.Prepared made =
                    SharedSnapshots.prepare(index, scratch, labels, List.of(), 1);
            saved = (System.nanoTime() - at) / 1e9;
            bytes = snapshots.publish(lease, made, 1, 1).orElseThrow().items().get(0).bytes();
            published = (System.nanoTime() - at) / 1e9;
        }
        try (NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0)) {
            long at = System.nanoTime();
            SharedSnapshots.Loaded taken =
                    snapshots
                            .load(
                                    index,
                                    scratch,
                                    why -> {
                                        throw new IllegalStateException(why);
                                    })
                            .orElseThrow();
            double loaded = (System.nanoTime() - at) / 1e9;
            if (index.stats().residencies() != held || taken.slots().isEmpty()) {
                throw new IllegalStateException("not all came back");
            }
            return new Recovery(held, bytes, saved, published, loaded);
        }
    }
}
