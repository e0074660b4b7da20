package io.warmpath.state;

import io.warmpath.events.SourceMark;
import io.warmpath.prefix.IndexSnapshots;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.IndexSnapshots.Taken;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Snapshots of one index in one directory: {@code N.index} with what is held and {@code N.marks}
 * with where each source stood just before, N counting up. The newest two stay. Marks are written
 * and on disk before the index's file gets its name, and that file carries their checksum: a pair
 * is whole, or is not used. One process a directory, kept by a lock file. One thread at a time.
 */
public final class StateStore implements AutoCloseable {
    /** How many pairs stay. */
    static final int KEPT = 2;

    private static final Pattern NAME = Pattern.compile("(\\d{1,18})\\.(index|marks)(\\.part)?");

    /** Numbers count up from 1 by one; no gateway lives to see a higher one. */
    private static final long MAX_NUMBER = 1_000_000_000_000L;

    /** A file that is read as a whole has no more; marks of millions of blocks do not. */
    private static final long MOST_BYTES = 256L << 20;

    /** Behind the name of what could not be used, so that it is not looked at again. */
    private static final String ASIDE = ".aside";

    private final Path directory;
    private final FileChannel lockFile;
    private long newest;

    /**
     * What a start goes on with.
     *
     * @param slots open in the index now, by whose they are
     * @param bytes of the index's file
     */
    public record Loaded(Path file, List<Label> slots, List<SourceMark> marks, long bytes) {
        public Loaded {
            slots = List.copyOf(slots);
            marks = List.copyOf(marks);
        }
    }

    /**
     * Makes the directory if it is not there, and takes it for this process.
     *
     * @throws IOException when it cannot be used, in a sentence
     */
    public StateStore(Path directory) throws IOException {
        this.directory = directory;
        try {
            Files.createDirectories(directory);
            lockFile =
                    FileChannel.open(
                            directory.resolve("lock"),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new IOException("the directory " + directory + " cannot be used: " + e, e);
        }
        if (!locked()) {
            lockFile.close();
            throw new IOException(
                    "the directory "
                            + directory
                            + " is in use by another gateway; give each its own");
        }
        newest = numbers().stream().mapToLong(n -> n).max().orElse(0);
    }

    private boolean locked() throws IOException {
        try {
            FileLock lock = lockFile.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false; // this process itself has it
        }
    }

    /**
     * Takes up the newest pair that is whole, in an index that never had a slot. What is there by
     * the name of a file and cannot be one of ours is set aside: it has another name then.
     *
     * @param refused told of each file that was not taken, and why
     * @throws IOException when the directory cannot be read
     */
    public Optional<Loaded> load(IndexSnapshots index, Consumer<String> refused)
            throws IOException {
        setAsideStrange(refused);
        List<Long> numbers = new ArrayList<>(numbers());
        numbers.sort(Comparator.reverseOrder());
        for (long n : numbers) {
            Path file = file(n, "index");
            if (!Files.exists(file)) {
                continue; // only its marks were written
            }
            Path beside = file(n, "marks");
            try {
                byte[] bytes = Files.exists(beside) ? whole(beside) : new byte[0];
                List<SourceMark> marks = MarksFile.read(bytes);
                // The marks first: an index that has been loaded cannot be given back.
                Taken taken = index.load(file);
                if (taken.key() != MarksFile.key(bytes)) {
                    // Somebody mixed files; without marks nothing of it is believed.
                    refused.accept(beside + " is not used: it does not belong to " + file);
                    marks = List.of();
                }
                return Optional.of(new Loaded(file, taken.slots(), marks, taken.bytes()));
            } catch (SnapshotException | IOException e) {
                refused.accept(file + " is not used: " + e.getMessage());
            }
        }
        return Optional.empty();
    }

    private void setAsideStrange(Consumer<String> refused) throws IOException {
        List<Path> strange = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path f : files) {
                long n = number(f);
                if (n > MAX_NUMBER || (n >= 0 && !Files.isRegularFile(f))) {
                    strange.add(f);
                }
            }
        }
        for (Path f : strange) {
            refused.accept(f + " is no file of this gateway's; " + aside(f));
        }
        newest = numbers().stream().mapToLong(n -> n).max().orElse(0);
    }

    /** Gives it a name that nobody looks for; says so. */
    private static String aside(Path file) {
        Path to = file.resolveSibling(file.getFileName() + ASIDE);
        try {
            Files.move(file, to, StandardCopyOption.REPLACE_EXISTING);
            return "it is " + to + " now";
        } catch (IOException e) {
            return "it cannot be moved to " + to + ": " + e;
        }
    }

    /**
     * @throws IOException for what is not a file of a size that can be ours; it is set aside
     */
    private static byte[] whole(Path file) throws IOException {
        if (!Files.isRegularFile(file) || Files.size(file) > MOST_BYTES) {
            throw new IOException(
                    file + " is no file of at most " + (MOST_BYTES >> 20) + " MiB; " + aside(file));
        }
        return Files.readAllBytes(file);
    }

    /** Writes a pair and removes those that are too old. {@code marks}: taken before this call. */
    public Taken save(IndexSnapshots index, List<Label> slots, List<SourceMark> marks)
            throws IOException, SnapshotException {
        long n = newest + 1;
        byte[] bytes = MarksFile.write(marks);
        write(file(n, "marks"), bytes);
        Taken taken = index.save(file(n, "index"), slots, MarksFile.key(bytes));
        newest = n;
        removeOlder();
        return taken;
    }

    /**
     * What {@link #keepBeside} has written last.
     *
     * @throws IOException when it cannot be read; what cannot be ours is set aside
     */
    public Optional<byte[]> beside(String name) throws IOException {
        Path file = directory.resolve(name);
        return Files.exists(file) ? Optional.of(whole(file)) : Optional.empty();
    }

    /**
     * Writes a file of its own beside the snapshots, whole or not at all. {@code name}: no number.
     */
    public void keepBeside(String name, byte[] bytes) throws IOException {
        write(directory.resolve(name), bytes);
    }

    /**
     * What is older than the newest {@link #KEPT} whole ones, and what a kill left half written.
     */
    private void removeOlder() throws IOException {
        List<Long> numbers = numbers();
        long oldest =
                numbers.stream()
                        .filter(n -> Files.exists(file(n, "index")))
                        .sorted(Comparator.reverseOrder())
                        .limit(KEPT)
                        .min(Comparator.naturalOrder())
                        .orElse(0L);
        for (long n : numbers) {
            for (String kind : List.of("index", "marks", "index.part", "marks.part")) {
                if (n < oldest) {
                    Files.deleteIfExists(file(n, kind));
                }
            }
        }
    }

    /** Whole and on disk before it has its name. */
    private void write(Path file, byte[] bytes) throws IOException {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try (FileChannel out =
                FileChannel.open(
                        part,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.WRITE)) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining()) {
                out.write(buffer);
            }
            out.force(true);
        }
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private List<Long> numbers() throws IOException {
        List<Long> numbers = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path f : files) {
                long n = number(f);
                if (n >= 0 && n <= MAX_NUMBER) {
                    numbers.add(n);
                }
            }
        }
        return numbers.stream().distinct().toList();
    }

    /** Which snapshot it would belong to; -1: none. */
    private static long number(Path file) {
        Matcher m = NAME.matcher(file.getFileName().toString());
        return m.matches() ? Long.parseLong(m.group(1)) : -1;
    }

    private Path file(long n, String kind) {
        return directory.resolve(n + "." + kind);
    }

    @Override
    public void close() throws IOException {
        lockFile.close();
    }
}
