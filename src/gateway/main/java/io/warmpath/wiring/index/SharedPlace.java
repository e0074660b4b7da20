package io.warmpath.wiring.index;

import io.warmpath.adapter.nats.NatsFiles;
import io.warmpath.adapter.nats.NatsKeys;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsStream;
import io.warmpath.config.state.SharedStateConfig;
import io.warmpath.prefix.IndexSnapshots;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.state.Lease;
import io.warmpath.state.SharedSnapshots;
import io.warmpath.state.SharedStream;
import io.warmpath.state.SnapshotCatalog;
import io.warmpath.state.SnapshotKeeper;
import io.warmpath.wiring.control.Announcements;
import io.warmpath.wiring.control.Announcements.Kind;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The object store of NATS, shared with other gateways. One thread. A gateway that could not ask
 * for a snapshot at its start knows less than others, and writes none until it is started again: a
 * poor one would take the place of a good one.
 */
public final class SharedPlace implements SnapshotPlace {
    private static final Logger LOG = Logger.getLogger(SharedPlace.class);

    private static final Duration EVERY = Duration.ofSeconds(1);
    private static final Duration PRESENT = Duration.ofSeconds(10);
    private static final int CHUNK_BYTES = 4 << 20;
    private static final String LOCK = "lock";

    private final SharedStateConfig config;
    private final NatsLink link;
    private final NatsStream stream;
    private final SharedSnapshots snapshots;
    private final SnapshotKeeper keeper;
    private final NatsFiles files;
    private final String gateway;
    private final String inWords;
    private final Path scratch;
    private final Announcements others;
    private boolean joined;
    private boolean reset;
    private boolean announced;

    // Of the look that is running.
    private @Nullable IndexSnapshots index;
    private @Nullable Supplier<View> view;
    private long written;

    /**
     * @param gateway id of this one: no other of the component has it, and it keeps it
     * @throws StartFailure when there is no room for a file
     */
    public SharedPlace(
            SharedStateConfig config,
            NatsLink link,
            NatsNames names,
            String gateway,
            Announcements others) {
        this.config = config;
        this.others = others;
        this.link = link;
        inWords = names.snapshotBucket() + " at " + link;
        try {
            scratch = Files.createTempFile("warmpath-", ".index");
        } catch (IOException e) {
            throw new StartFailure(
                    "a file for snapshots cannot be made in %s: %s"
                            .formatted(System.getProperty("java.io.tmpdir"), e.getMessage()));
        }
        stream = new NatsStream(link, names.stream());
        NatsKeys keys = new NatsKeys(link, names.stateBucket(), Duration.ZERO);
        files = new NatsFiles(link, names.snapshotBucket());
        snapshots = new SharedSnapshots(keys, files, NatsNames.SNAPSHOT, CHUNK_BYTES);
        String id = NatsNames.slug(gateway);
        this.gateway = id;
        keeper =
                new SnapshotKeeper(
                        new SnapshotKeeper.Settings(
                                id,
                                "pid " + ProcessHandle.current().pid(),
                                config.threshold(),
                                config.orphanExpiry()),
                        stream,
                        new NatsKeys(link, names.presenceBucket(), PRESENT),
                        snapshots,
                        // A process that comes back under the same id is another holder.
                        new Lease(
                                keys,
                                LOCK,
                                id + "/" + UUID.randomUUID(),
                                config.lease().toNanos(),
                                System::nanoTime),
                        this::prepare,
                        new Told(),
                        System::nanoTime,
                        System::currentTimeMillis);
    }

    @Override
    public Optional<TakenUp> load(IndexSnapshots into, Consumer<String> refused) {
        try {
            awaitServer();
            if (config.reset()) {
                reset();
            }
            Optional<TakenUp> taken = snapshots.load(into, scratch, refused).map(this::takenUp);
            joined = true;
            return taken;
        } catch (IOException e) {
            LOG.warnf(
                    "NATS could not be asked for a snapshot of the index: %s. The index starts empty,"
                            + " and this gateway writes no snapshots; restart it once NATS is there",
                    e.getMessage());
            return Optional.empty();
        } finally {
            empty();
        }
    }

    private TakenUp takenUp(SharedSnapshots.Loaded l) {
        SnapshotCatalog.Item item = l.item();
        return new TakenUp(
                "the shared snapshot " + item.name(),
                l.slots(),
                l.marks(),
                item.bytes(),
                item.stream() == streamId() ? item.position() : 0);
    }

    /** 0 when it is not known, or there is none. */
    private long streamId() {
        try {
            Optional<SharedStream.Look> look = stream.look();
            return look.map(l -> l.stream().id()).orElse(0L);
        } catch (IOException e) {
            LOG.warnf("The stream is read from its beginning: %s", e.getMessage());
            return 0;
        }
    }

    private void awaitServer() throws IOException {
        CountDownLatch connected = new CountDownLatch(1);
        link.listen(
                now -> {
                    if (now) {
                        connected.countDown();
                    }
                });
        try {
            if (!connected.await(config.startTimeout().toNanos(), TimeUnit.NANOSECONDS)) {
                throw new IOException("no server answered within " + config.startTimeout());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for a server", e);
        }
    }

    private void reset() throws IOException {
        Map<String, String> alive =
                keeper.reset(
                        () -> {
                            try {
                                Thread.sleep(EVERY);
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        (int) (2 * config.lease().dividedBy(EVERY)) + 2);
        LOG.info("--router-reset-states: dropped all shared snapshots and the stream's content");
        reset = true;
        if (!alive.isEmpty()) {
            LOG.warnf(
                    "Other gateways are alive: %s. They still know what was dropped, and their next"
                            + " snapshot will bring it back; restart them if it is wrong",
                    alive);
        }
    }

    @Override
    public Duration every() {
        return EVERY;
    }

    @Override
    public long look(IndexSnapshots from, Supplier<View> now, boolean last)
            throws IOException, SnapshotException {
        if (last) {
            others.say(Kind.ENDED, Map.of());
            keeper.close();
            return 0;
        }
        announce();
        index = from;
        view = now;
        written = 0;
        try {
            return keeper.tick() ? written : 0;
        } finally {
            if (written > 0) {
                empty();
            }
        }
    }

    /** Only now the channels are there. */
    private void announce() {
        if (!announced && link.connected()) {
            announced = true;
            others.say(reset ? Kind.RESET : Kind.STARTED, Map.of());
        }
    }

    private Optional<SharedSnapshots.Prepared> prepare() throws SnapshotException {
        IndexSnapshots from = index;
        Supplier<View> now = view;
        if (!joined || from == null || now == null) {
            return Optional.empty();
        }
        View v = now.get();
        SharedSnapshots.Prepared made =
                SharedSnapshots.prepare(from, scratch, v.labels(), v.marks(), v.position());
        written = made.taken().bytes();
        return Optional.of(made);
    }

    /** The file's room is given back at once. */
    private void empty() {
        try {
            Files.write(scratch, new byte[0]);
        } catch (IOException e) {
            LOG.warnf("%s was not emptied: %s", scratch, e);
        }
    }

    /** Each gateway has its own. */
    @Override
    public Optional<byte[]> beside(String name) throws IOException {
        if (!joined || reset) {
            return Optional.empty(); // nobody could be asked, or all is to begin anew
        }
        try {
            return files.get(file(name));
        } catch (SnapshotException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public void keepBeside(String name, byte[] bytes) throws IOException {
        files.put(file(name), bytes);
    }

    private String file(String name) {
        return name + "/" + gateway;
    }

    @Override
    public String toString() {
        return inWords;
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(scratch);
    }

    private final class Told implements SnapshotKeeper.Listener {
        @Override
        public void written(SnapshotCatalog catalog, long millis) {
            SnapshotCatalog.Item newest = catalog.items().get(0);
            LOG.infof(
                    "Wrote the shared snapshot %s: %d bytes, covers the stream up to %d, in %d ms",
                    newest.name(), newest.bytes(), newest.position(), millis);
            others.say(Kind.SNAPSHOT, Map.of("name", newest.name(), "position", newest.position()));
        }

        @Override
        public void purged(long upTo) {
            LOG.infof("Purged the stream of events up to %d", upTo);
        }

        @Override
        public void removed(String gateway) {
            LOG.infof(
                    "The gateway %s is gone for long: its place in the stream was removed",
                    gateway);
        }
    }
}
