package io.warmpath.wiring.index;

import io.warmpath.config.state.StateConfig;
import io.warmpath.events.SourceMark;
import io.warmpath.prefix.IndexSnapshots;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.IndexSnapshots.Taken;
import io.warmpath.state.StateStore;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/** A directory of this gateway alone, written when something has changed. One thread. */
final class DirectoryPlace implements SnapshotPlace {
    private static final Logger LOG = Logger.getLogger(DirectoryPlace.class);

    private final StateStore store;
    private final String directory;
    private final Duration every;

    // An unchanged index is not written again.
    private long writtenApplied = -1;
    private long writtenFleet = -1;

    /** Throws {@link StartFailure} when it cannot be used. */
    DirectoryPlace(StateConfig config, String directory) {
        this.directory = directory;
        every = config.interval();
        try {
            store = new StateStore(Path.of(directory));
        } catch (IOException e) {
            throw new StartFailure("warmpath.state.directory: " + e.getMessage());
        }
    }

    @Override
    public Optional<TakenUp> load(IndexSnapshots index, Consumer<String> refused)
            throws IOException {
        return store.load(index, refused)
                .map(l -> new TakenUp(l.file().toString(), l.slots(), l.marks(), l.bytes(), 0));
    }

    @Override
    public Duration every() {
        return every;
    }

    @Override
    public long look(IndexSnapshots index, Supplier<View> now, boolean last)
            throws IOException, SnapshotException {
        View view = now.get();
        long applied = view.heard().stream().mapToLong(SourceMark::next).sum();
        if (applied == writtenApplied && view.fleetVersion() == writtenFleet) {
            return 0;
        }
        long begin = System.nanoTime();
        Taken taken = store.save(index, view.labels(), view.marks());
        writtenApplied = applied;
        writtenFleet = view.fleetVersion();
        LOG.debugf(
                "Snapshot of %d bytes in %d ms, writers held for at most %d us",
                taken.bytes(),
                (System.nanoTime() - begin) / 1_000_000,
                taken.longestHoldNanos() / 1_000);
        return taken.bytes();
    }

    @Override
    public Optional<byte[]> beside(String name) throws IOException {
        return store.beside(name);
    }

    @Override
    public void keepBeside(String name, byte[] bytes) throws IOException {
        store.keepBeside(name, bytes);
    }

    @Override
    public String toString() {
        return directory;
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
