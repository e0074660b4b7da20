package io.warmpath.adapter.nats;

import io.warmpath.events.SourceMark;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.state.Lease;
import io.warmpath.state.NumberIndex;
import io.warmpath.state.SharedFiles;
import io.warmpath.state.SharedSnapshots;
import io.warmpath.state.SnapshotCatalog;
import io.warmpath.state.SnapshotKeeper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * One gateway's part in the shared snapshots, over a real server; its index is the number of
 * messages that it has applied. As a process of its own it stands still in the middle of an upload,
 * says so, and waits to be killed.
 */
final class SnapshotGateway implements AutoCloseable {
    static final NatsNames NAMES = new NatsNames("test", "snapshots");
    // Longer than a busy machine takes for one snapshot.
    static final Duration LEASE = Duration.ofSeconds(2);
    static final Duration ORPHAN = Duration.ofSeconds(3);
    static final long THRESHOLD = 100;
    static final List<Label> LABELS = List.of(new Label(new WorkerSlot(4), 9, 0));

    /** Three of them a snapshot. */
    private static final int CHUNK = 120;

    final NatsLink link;
    final NatsStream stream;
    final NatsKeys keys;
    final NatsFiles files;
    final NatsKeys presence;
    final SharedSnapshots snapshots;
    final SnapshotKeeper keeper;
    final NumberIndex index = new NumberIndex();
    final List<String> refused = new ArrayList<>();
    final List<String> told = new ArrayList<>();
    private final Path scratch;

    SnapshotGateway(String id, NatsOptions server, Path folder) throws Exception {
        this(id, server, folder, f -> f);
    }

    SnapshotGateway(String id, NatsOptions server, Path folder, UnaryOperator<SharedFiles> around)
            throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        link = NatsLink.open(server, id);
        link.listen(
                now -> {
                    if (now) {
                        connected.countDown();
                    }
                });
        if (!connected.await(10, TimeUnit.SECONDS)) {
            throw new IOException("no connection");
        }
        scratch = folder.resolve(id);
        stream = new NatsStream(link, NAMES.stream());
        keys = new NatsKeys(link, NAMES.stateBucket(), Duration.ZERO);
        presence = new NatsKeys(link, NAMES.presenceBucket(), Duration.ofSeconds(6));
        files = new NatsFiles(link, NAMES.snapshotBucket());
        snapshots = new SharedSnapshots(keys, around.apply(files), NatsNames.SNAPSHOT, CHUNK);
        keeper =
                new SnapshotKeeper(
                        new SnapshotKeeper.Settings(id, "a test", THRESHOLD, ORPHAN),
                        stream,
                        presence,
                        snapshots,
                        new Lease(keys, "lock", id, LEASE.toNanos(), System::nanoTime),
                        () ->
                                Optional.of(
                                        SharedSnapshots.prepare(
                                                index,
                                                scratch,
                                                LABELS,
                                                marks(index.content),
                                                index.content)),
                        new SnapshotKeeper.Listener() {
                            @Override
                            public void written(SnapshotCatalog catalog, long millis) {
                                told.add("written " + catalog.covered());
                            }

                            @Override
                            public void purged(long upTo) {
                                told.add("purged " + upTo);
                            }

                            @Override
                            public void removed(String gateway) {
                                told.add("removed " + gateway);
                            }
                        },
                        System::nanoTime,
                        System::currentTimeMillis);
    }

    static List<SourceMark> marks(long next) {
        return List.of(new SourceMark(0, new WorkerSlot(4), next, 1, true, List.of()));
    }

    /** 0 for nothing. */
    long load() throws IOException {
        index.content = -1;
        index.labels = LABELS;
        return snapshots.load(index, scratch, refused::add).isPresent() ? index.content : 0;
    }

    @Override
    public void close() {
        link.close();
    }

    /** URL, folder, position. */
    public static void main(String[] args) throws Exception {
        SnapshotGateway g =
                new SnapshotGateway(
                        "killed",
                        NatsOptions.of(args[0]),
                        Path.of(args[1]),
                        files -> new StandsStill(files));
        g.index.content = Long.parseLong(args[2]);
        g.keeper.tick();
    }

    private record StandsStill(SharedFiles files) implements SharedFiles {
        @Override
        public void put(String name, byte[] bytes) throws IOException {
            files.put(name, bytes);
            if (name.endsWith("/1")) {
                System.out.println("in the middle");
                System.out.flush();
                try {
                    Thread.sleep(Duration.ofMinutes(1));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        @Override
        public Optional<byte[]> get(String name) {
            throw new IllegalStateException("not that far");
        }

        @Override
        public List<String> names() throws IOException {
            return files.names();
        }

        @Override
        public void remove(String name) throws IOException {
            files.remove(name);
        }
    }
}
