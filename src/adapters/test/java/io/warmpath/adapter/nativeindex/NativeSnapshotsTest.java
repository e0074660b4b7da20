package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.IndexSnapshots.Taken;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The index's file through the binding; the format itself is tested beside the native code. */
class NativeSnapshotsTest {
    private static final int[] PROMPT = {1, 2, 3, 4, 5, 6, 7, 8};

    @TempDir Path folder;

    private static NativePrefixIndex index() {
        return new NativePrefixIndex(Optional.empty(), 0);
    }

    private static PrefixEvent stored(WorkerSlot slot, int blocks) {
        long[] hashes = new long[blocks];
        int[] tokens = new int[2 * blocks];
        for (int i = 0; i < blocks; i++) {
            hashes[i] = 100L + i;
        }
        System.arraycopy(PROMPT, 0, tokens, 0, tokens.length);
        return new PrefixEvent.Stored(
                slot, Tier.GPU, false, 0, hashes, tokens, 2, PrefixSpace.NONE);
    }

    private static int depth(NativePrefixIndex index, WorkerSlot slot) {
        return index.match(new PrefixQuery(PROMPT, PROMPT.length, 2, PrefixSpace.NONE))
                .depth(slot, Tier.GPU);
    }

    @Test
    void what_was_held_is_held_again_by_the_same_slots_with_their_labels() throws Exception {
        Path file = folder.resolve("1.index");
        List<Label> labels;
        try (NativePrefixIndex before = index()) {
            WorkerSlot closed = before.open(0);
            WorkerSlot a = before.open(0);
            WorkerSlot b = before.open(2);
            before.close(closed);
            before.apply(List.of(stored(a, 3), stored(b, 4)));
            labels = List.of(new Label(a, -7, 1), new Label(b, 8, 0));
            Taken saved = before.save(file, labels, 0x1234_5678_9abc_def0L);
            assertEquals(Files.size(file), saved.bytes());
        }
        try (NativePrefixIndex after = index()) {
            Taken loaded = after.load(file);
            assertEquals(labels, loaded.slots());
            assertEquals(0x1234_5678_9abc_def0L, loaded.key());
            assertEquals(0, loaded.dropped());
            assertEquals(3, depth(after, labels.get(0).slot()));
            assertEquals(4, depth(after, labels.get(1).slot()));
            after.apply(
                    List.of(
                            new PrefixEvent.Removed(
                                    labels.get(0).slot(), Tier.GPU, new long[] {101})));
            assertEquals(1, depth(after, labels.get(0).slot()));
            assertEquals(0, after.open(0).index(), "the free number is given out first");
        }
    }

    @Test
    void a_damaged_or_foreign_file_is_refused_with_its_reason_and_changes_nothing()
            throws Exception {
        Path file = folder.resolve("1.index");
        try (NativePrefixIndex index = index()) {
            WorkerSlot slot = index.open(0);
            index.apply(List.of(stored(slot, 4)));
            index.save(file, List.of(new Label(slot, 1, 0)), 5);
        }
        byte[] whole = Files.readAllBytes(file);
        byte[] flipped = whole.clone();
        flipped[whole.length / 2] ^= 1;
        try (NativePrefixIndex index = index()) {
            for (byte[] bad :
                    List.of(
                            flipped,
                            java.util.Arrays.copyOf(whole, whole.length - 8),
                            new byte[0],
                            "not ours at all".getBytes(java.nio.charset.StandardCharsets.UTF_8))) {
                Files.write(file, bad);
                SnapshotException e = assertThrows(SnapshotException.class, () -> index.load(file));
                assertTrue(String.valueOf(e.getMessage()).length() > 10, e.getMessage());
            }
            Files.write(file, whole);
            assertEquals(4, depth(index, index.load(file).slots().get(0).slot()));
        }
    }

    @Test
    void a_folder_that_is_not_there_is_told() throws IOException {
        try (NativePrefixIndex index = index()) {
            Path nowhere = folder.resolve("no").resolve("1.index");
            SnapshotException e =
                    assertThrows(SnapshotException.class, () -> index.save(nowhere, List.of(), 0));
            assertTrue(String.valueOf(e.getMessage()).contains("No such file"), e.getMessage());
            assertThrows(SnapshotException.class, () -> index.load(nowhere));
        }
    }
}
