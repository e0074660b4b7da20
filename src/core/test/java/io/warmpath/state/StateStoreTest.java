package io.warmpath.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.SourceMark;
import io.warmpath.prefix.IndexSnapshots;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pairs of files in a directory; the index is one that writes its key and one label. */
class StateStoreTest {
    private static final List<IndexSnapshots.Label> LABELS =
            List.of(new IndexSnapshots.Label(new WorkerSlot(4), 9, 0));

    @TempDir Path folder;
    private final List<String> refused = new ArrayList<>();
    private final Numbers index = new Numbers();

    /** An index whose content is a number. */
    private static final class Numbers implements IndexSnapshots {
        long content;
        boolean fails;

        @Override
        public Taken save(Path file, List<Label> labels, long key) throws SnapshotException {
            if (fails) {
                throw new SnapshotException("disk full");
            }
            try {
                Files.write(
                        file,
                        ByteBuffer.allocate(24).putLong(1).putLong(key).putLong(content).array());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return new Taken(List.of(), key, 24, 0, 0);
        }

        @Override
        public Taken load(Path file) throws SnapshotException {
            try {
                ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file));
                if (in.remaining() != 24 || in.getLong() != 1) {
                    throw new SnapshotException("damaged at byte 0");
                }
                long key = in.getLong();
                content = in.getLong();
                return new Taken(LABELS, key, 24, 0, 0);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static List<SourceMark> marks(long next) {
        return List.of(new SourceMark(0, new WorkerSlot(4), next, 1, true, List.of()));
    }

    private void save(StateStore store, long content) throws Exception {
        index.content = content;
        store.save(index, LABELS, marks(content));
    }

    private long loaded(StateStore store) throws IOException {
        index.content = -1;
        StateStore.Loaded l = store.load(index, refused::add).orElseThrow();
        assertEquals(LABELS, l.slots());
        assertEquals(marks(index.content), l.marks());
        return index.content;
    }

    private Set<String> files() throws IOException {
        try (Stream<Path> list = Files.list(folder)) {
            Set<String> names = new TreeSet<>();
            list.forEach(p -> names.add(p.getFileName().toString()));
            return names;
        }
    }

    @Test
    void the_newest_of_two_kept_pairs_is_taken_up() throws Exception {
        try (StateStore store = new StateStore(folder.resolve("made"))) {
            assertTrue(store.load(index, refused::add).isEmpty());
            for (int i = 1; i <= 4; i++) {
                save(store, i);
            }
        }
        try (StateStore store = new StateStore(folder.resolve("made"))) {
            assertEquals(4, loaded(store));
            save(store, 5);
            assertEquals(5, loaded(store));
        }
        try (Stream<Path> list = Files.list(folder.resolve("made"))) {
            assertEquals(5, list.count(), "two pairs and the lock");
        }
        assertEquals(List.of(), refused);
    }

    @Test
    void a_damaged_file_is_told_and_the_one_before_it_used() throws Exception {
        try (StateStore store = new StateStore(folder)) {
            save(store, 1);
            save(store, 2);
            Files.write(folder.resolve("2.index"), new byte[9]);
            assertEquals(1, loaded(store));
            assertEquals(1, refused.size());
            assertTrue(refused.get(0).contains("2.index is not used: damaged"), refused.get(0));
            Files.write(folder.resolve("1.marks"), new byte[9]);
            assertTrue(store.load(index, refused::add).isEmpty());
        }
    }

    @Test
    void what_a_kill_left_half_written_is_passed_over_and_removed() throws Exception {
        try (StateStore store = new StateStore(folder)) {
            save(store, 1);
            save(store, 2);
        }
        // Marks without their index, and the beginnings of both.
        Files.copy(folder.resolve("2.marks"), folder.resolve("3.marks"));
        Files.write(folder.resolve("3.index.part"), new byte[5]);
        try (StateStore store = new StateStore(folder)) {
            assertEquals(2, loaded(store));
            save(store, 4);
            assertEquals(4, loaded(store));
            assertTrue(Files.exists(folder.resolve("2.index")), "the one before stays");
            save(store, 5);
        }
        assertEquals(
                new TreeSet<>(List.of("4.index", "4.marks", "5.index", "5.marks", "lock")),
                files());
    }

    @Test
    void marks_of_another_snapshot_are_not_believed() throws Exception {
        try (StateStore store = new StateStore(folder)) {
            save(store, 1);
            save(store, 2);
            Files.copy(
                    folder.resolve("1.marks"),
                    folder.resolve("2.marks"),
                    java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            assertEquals(List.of(), store.load(index, refused::add).orElseThrow().marks());
            assertTrue(refused.get(0).contains("does not belong"), refused.get(0));
        }
    }

    @Test
    void a_snapshot_that_fails_leaves_the_last_one() throws Exception {
        try (StateStore store = new StateStore(folder)) {
            save(store, 1);
            index.fails = true;
            assertThrows(
                    IndexSnapshots.SnapshotException.class,
                    () -> store.save(index, LABELS, marks(2)));
            assertEquals(1, loaded(store));
        }
    }

    @Test
    void a_directory_belongs_to_one_gateway() throws Exception {
        try (StateStore first = new StateStore(folder)) {
            IOException e = assertThrows(IOException.class, () -> new StateStore(folder));
            assertTrue(String.valueOf(e.getMessage()).contains("in use by another gateway"));
            save(first, 1);
        }
        try (StateStore second = new StateStore(folder)) {
            assertEquals(1, loaded(second));
        }
    }

    private void assertStarts(long content) throws Exception {
        try (StateStore store = new StateStore(folder)) {
            assertEquals(content, loaded(store));
            save(store, content + 1);
            save(store, content + 2);
        }
        try (StateStore store = new StateStore(folder)) {
            refused.clear();
            assertEquals(content + 2, loaded(store), "what was written then");
            assertEquals(List.of(), refused);
        }
    }

    private void written(long... contents) throws Exception {
        try (StateStore store = new StateStore(folder)) {
            for (long content : contents) {
                save(store, content);
            }
        }
    }

    @Test
    void folders_where_files_should_be_are_set_aside() throws Exception {
        for (String name : List.of("7.marks", "7.index", "8.index.part")) {
            written(1);
            Files.createDirectories(folder.resolve(name).resolve("full"));
            refused.clear();
            assertStarts(1);
            assertTrue(Files.isDirectory(folder.resolve(name + ".aside")), name);
            try (Stream<Path> all = Files.walk(folder)) {
                all.sorted(Comparator.reverseOrder())
                        .filter(p -> !p.equals(folder))
                        .forEach(p -> p.toFile().delete());
            }
        }
    }

    @Test
    void a_number_beyond_all_numbers_does_not_end_the_counting() throws Exception {
        written(1);
        Files.write(folder.resolve("999999999999999999.index"), new byte[9]);
        assertStarts(1);
        assertTrue(files().contains("999999999999999999.index.aside"), files()::toString);
    }

    @Test
    void a_file_of_marks_too_large_to_read_is_set_aside() throws Exception {
        written(1, 2);
        try (RandomAccessFile huge =
                new RandomAccessFile(folder.resolve("2.marks").toFile(), "rw")) {
            huge.setLength(1L << 40); // of holes
        }
        assertStarts(1);
        assertTrue(files().contains("2.marks.aside"), files()::toString);
    }

    @Test
    void a_pair_that_the_index_chokes_on_is_passed_over() throws Exception {
        written(1, 2);
        Files.delete(folder.resolve("2.index"));
        Files.createDirectories(folder.resolve("2.index"));
        assertStarts(1);
    }

    @Test
    void something_strange_beside_the_snapshots_is_told_and_not_read() throws Exception {
        written(1);
        Files.createDirectories(folder.resolve("folder.json").resolve("full"));
        try (RandomAccessFile huge =
                new RandomAccessFile(folder.resolve("huge.json").toFile(), "rw")) {
            huge.setLength(1L << 40);
        }
        try (StateStore store = new StateStore(folder)) {
            for (String name : List.of("folder.json", "huge.json")) {
                IOException no = assertThrows(IOException.class, () -> store.beside(name));
                assertTrue(no.getMessage().contains(name + ".aside"), no.getMessage());
                store.keepBeside(name, new byte[] {1});
                assertEquals(1, store.beside(name).orElseThrow().length);
            }
            assertTrue(store.beside("none.json").isEmpty());
        }
    }
}
