package io.warmpath.state;

import io.warmpath.events.SourceMark;
import io.warmpath.prefix.IndexSnapshots;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.IndexSnapshots.Taken;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Snapshots that several gateways share: one writes them, under a {@link Lease}; any takes them up.
 * The newest two stay.
 *
 * <p>A snapshot counts when the catalog names it, and the catalog is changed by compare and set
 * after all of the upload has been read back. Before it touches anything a writer puts its token
 * into the catalog: a holder of the lease that stood still meanwhile then fails at its own compare
 * and set, so that neither can it publish what the next one has cleaned away, nor the other way
 * round. Half an upload is named by nobody; the next writer removes it.
 *
 * <p>One thread.
 */
public final class SharedSnapshots {
    /** How many stay. */
    static final int KEPT = 2;

    private static final String CATALOG = "snapshots";
    private static final String MANIFEST = "manifest";

    /** The catalog may move on while an old one is being read. */
    private static final int LOOKS = 3;

    private final SharedKeys keys;
    private final SharedFiles files;
    private final String folder;
    private final int chunkBytes;
    private long uploads;

    /** What a start goes on with. {@code slots}: open in the index now, by whose they are. */
    public record Loaded(SnapshotCatalog.Item item, List<Label> slots, List<SourceMark> marks) {
        public Loaded {
            slots = List.copyOf(slots);
            marks = List.copyOf(marks);
        }
    }

    /** What is to be uploaded: written by {@link #prepare}. */
    public record Prepared(Path index, byte[] marks, long position, Taken taken) {}

    private record Seen(SnapshotCatalog catalog, long revision) {}

    /** {@code folder}: that all names of files begin with. */
    public SharedSnapshots(SharedKeys keys, SharedFiles files, String folder, int chunkBytes) {
        this.keys = keys;
        this.files = files;
        this.folder = folder + "/";
        this.chunkBytes = chunkBytes;
    }

    public SnapshotCatalog catalog() throws IOException {
        return seen().catalog;
    }

    private Seen seen() throws IOException {
        Optional<SharedKeys.Entry> entry = keys.get(CATALOG);
        if (entry.isEmpty()) {
            return new Seen(SnapshotCatalog.NONE, SharedKeys.ABSENT);
        }
        try {
            return new Seen(SnapshotCatalog.read(entry.get().value()), entry.get().revision());
        } catch (IllegalArgumentException e) {
            throw new IOException("the key " + CATALOG + " cannot be read: " + e.getMessage(), e);
        }
    }

    /**
     * Writes the index to a file of this process.
     *
     * @param marks taken with {@code position} at one instant, before this call
     * @param position stream sequence up to which everything has been applied
     */
    public static Prepared prepare(
            IndexSnapshots index,
            Path scratch,
            List<Label> slots,
            List<SourceMark> marks,
            long position)
            throws SnapshotException {
        byte[] written = MarksFile.write(marks);
        Taken taken = index.save(scratch, slots, MarksFile.key(written));
        return new Prepared(scratch, written, position, taken);
    }

    /**
     * Uploads a snapshot, reads it back, and makes it the newest. Empty when the lease was lost on
     * the way, or the newest covers as much: then nothing has changed.
     *
     * @param lease held
     * @param stream id of the stream that the position is of
     * @param nowMillis since 1970
     */
    public Optional<SnapshotCatalog> publish(
            Lease lease, Prepared what, long stream, long nowMillis)
            throws IOException, SnapshotException {
        Optional<Seen> entered = enter(lease);
        if (entered.isEmpty()) {
            return Optional.empty();
        }
        Seen before = entered.get();
        clean(before.catalog);
        if (what.position <= before.catalog.of(stream).covered()) {
            return Optional.empty();
        }
        String name = lease.token() + "-" + ++uploads;
        try (Upload upload = new Upload(what.index, what.marks, chunkBytes)) {
            List<Integer> sums = new ArrayList<>();
            for (int i = 0; i < upload.chunks(); i++) {
                if (!lease.renew()) {
                    return Optional.empty();
                }
                files.put(file(name, i), upload.chunk(i));
                sums.add(upload.chunkSum());
            }
            SnapshotManifest manifest = upload.manifest(what.position, sums);
            files.put(file(name, MANIFEST), manifest.write());
            if (!readBack(lease, name, manifest)) {
                return Optional.empty();
            }
            List<SnapshotCatalog.Item> items = new ArrayList<>();
            items.add(
                    new SnapshotCatalog.Item(
                            name, what.position, nowMillis, manifest.bytes(), stream));
            before.catalog.items().stream().limit(KEPT - 1).forEach(items::add);
            SnapshotCatalog after = new SnapshotCatalog(lease.token(), items);
            if (!lease.confirm()
                    || keys.put(CATALOG, after.write(), before.revision) == SharedKeys.REFUSED) {
                return Optional.empty();
            }
            clean(after);
            return Optional.of(after);
        }
    }

    /** Puts this holder's token into the catalog; empty when a later one has been here. */
    private Optional<Seen> enter(Lease lease) throws IOException {
        Seen seen = seen();
        if (seen.catalog.fence() > lease.token() || !lease.renew()) {
            return Optional.empty();
        }
        SnapshotCatalog mine = new SnapshotCatalog(lease.token(), seen.catalog.items());
        long revision = keys.put(CATALOG, mine.write(), seen.revision);
        return revision == SharedKeys.REFUSED
                ? Optional.empty()
                : Optional.of(new Seen(mine, revision));
    }

    /**
     * Removes what the catalog does not name: old ones, and what a killed holder left. Not what a
     * later holder writes: this one may have stood still.
     */
    private void clean(SnapshotCatalog catalog) throws IOException {
        for (String f : strays(catalog)) {
            if (tokenOf(f) <= catalog.fence()) {
                files.remove(f);
            }
        }
    }

    /** Files of snapshots that the catalog does not name. */
    List<String> strays(SnapshotCatalog catalog) throws IOException {
        return files.names().stream()
                .filter(f -> f.startsWith(folder))
                .filter(
                        f ->
                                catalog.items().stream()
                                        .noneMatch(i -> f.startsWith(folder + i.name() + "/")))
                .toList();
    }

    /** The token of who wrote a file; 0 for what is not named as ours are. */
    private long tokenOf(String file) {
        int end = file.indexOf('-', folder.length());
        try {
            return end < 0 ? 0 : Long.parseLong(file.substring(folder.length(), end));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private boolean readBack(Lease lease, String name, SnapshotManifest want)
            throws IOException, SnapshotException {
        if (!want.equals(manifest(name))) {
            throw new SnapshotException("its manifest came back changed");
        }
        Download check = new Download(want);
        for (int i = 0; i < want.chunkSums().size(); i++) {
            if (!lease.renew()) {
                return false;
            }
            check.take(i, files.get(file(name, i)));
        }
        check.end();
        return true;
    }

    private SnapshotManifest manifest(String name) throws IOException, SnapshotException {
        Optional<byte[]> bytes = files.get(file(name, MANIFEST));
        if (bytes.isEmpty()) {
            throw new SnapshotException("its manifest is not there");
        }
        return SnapshotManifest.read(bytes.get());
    }

    /**
     * Takes up the newest snapshot that is whole, in an index that never had a slot.
     *
     * @param scratch file of this process that it goes through
     * @param refused told of each that was not taken, and why
     */
    public Optional<Loaded> load(IndexSnapshots index, Path scratch, Consumer<String> refused)
            throws IOException {
        Seen seen = seen();
        for (int look = 1; ; look++) {
            for (SnapshotCatalog.Item item : seen.catalog.items()) {
                try {
                    return Optional.of(load(index, item, scratch, refused));
                } catch (SnapshotException e) {
                    refused.accept(
                            "The shared snapshot %s is not used: %s"
                                    .formatted(item.name(), e.getMessage()));
                }
            }
            Seen now = seen();
            if (look == LOOKS || now.revision == seen.revision) {
                return Optional.empty();
            }
            seen = now;
        }
    }

    private Loaded load(
            IndexSnapshots index, SnapshotCatalog.Item item, Path scratch, Consumer<String> refused)
            throws IOException, SnapshotException {
        SnapshotManifest manifest = manifest(item.name());
        List<SourceMark> marks;
        byte[] marksBytes;
        try (Download download = new Download(manifest, scratch)) {
            for (int i = 0; i < manifest.chunkSums().size(); i++) {
                download.take(i, files.get(file(item.name(), i)));
            }
            download.end();
            marksBytes = download.marks();
            marks = MarksFile.read(marksBytes);
        }
        // All else first: an index that has been loaded cannot be given back.
        Taken taken = index.load(scratch);
        if (taken.key() != MarksFile.key(marksBytes)) {
            // Its writer's mistake, as the checksums fit; without marks nothing of it is believed.
            refused.accept(
                    "The marks of the shared snapshot "
                            + item.name()
                            + " are not used: they do not belong to its index");
            marks = List.of();
        }
        return new Loaded(item, taken.slots(), marks);
    }

    /**
     * Forgets all of them. Writers that are at it will fail.
     *
     * @param lease held
     * @return false when the lease was lost
     */
    public boolean reset(Lease lease) throws IOException {
        Optional<Seen> entered = enter(lease);
        if (entered.isEmpty()) {
            return false;
        }
        SnapshotCatalog none = new SnapshotCatalog(lease.token(), List.of());
        if (keys.put(CATALOG, none.write(), entered.get().revision) == SharedKeys.REFUSED) {
            return false;
        }
        clean(none);
        return true;
    }

    private String file(String name, Object part) {
        return folder + name + "/" + part;
    }
}
