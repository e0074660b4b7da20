package io.warmpath.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceMark.SlotMemory;
import io.warmpath.events.SourceMark.Spaced;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.SideBlocks;
import io.warmpath.prefix.WorkerSlot;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class MarksFileTest {
    private static final List<SourceMark> MARKS =
            List.of(
                    new SourceMark(
                            1,
                            new WorkerSlot(-3),
                            -9,
                            77,
                            true,
                            List.of(
                                    new SlotMemory(
                                            new WorkerSlot(-3),
                                            new SideBlocks.Memory(
                                                    List.of(
                                                            new SideBlocks.Group(
                                                                    0, SideBlocks.Group.EVERY, 1),
                                                            new SideBlocks.Group(5, 3, 2)),
                                                    List.of(
                                                            new SideBlocks.Held(
                                                                    7, -8, 3, List.of()),
                                                            new SideBlocks.Held(
                                                                    -9, 0, 1, List.of(2, 0)))),
                                            List.of(
                                                    new Spaced(-1, 3, "", "sält"),
                                                    new Spaced(4, 1, "adapter", ""))),
                                    new SlotMemory(
                                            new WorkerSlot(4), SideBlocks.Memory.NONE, List.of()))),
                    new SourceMark(0, new WorkerSlot(5), 1, 2, false, List.of()));

    @Test
    void marks_come_back_as_they_went() throws Exception {
        assertEquals(MARKS, MarksFile.read(MarksFile.write(MARKS)));
        assertEquals(List.of(), MarksFile.read(MarksFile.write(List.of())));
    }

    @Test
    void every_cut_and_every_changed_byte_is_refused() {
        byte[] whole = MarksFile.write(MARKS);
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThrows(SnapshotException.class, () -> MarksFile.read(cut), "cut at " + length);
        }
        for (int at = 0; at < whole.length; at++) {
            byte[] changed = whole.clone();
            changed[at] ^= 0x10;
            assertThrows(SnapshotException.class, () -> MarksFile.read(changed), "byte " + at);
        }
    }

    @Test
    void a_foreign_file_and_another_version_are_refused_with_their_reason() {
        byte[] foreign = "something else entirely, and long".getBytes(StandardCharsets.UTF_8);
        SnapshotException e = assertThrows(SnapshotException.class, () -> MarksFile.read(foreign));
        assertEquals("it is not a file of marks", e.getMessage());
        byte[] newer = MarksFile.write(MARKS);
        newer[11] = 9;
        e = assertThrows(SnapshotException.class, () -> MarksFile.read(newer));
        assertTrue(String.valueOf(e.getMessage()).contains("version is 9"), e.getMessage());
    }

    @Test
    void two_files_have_two_keys() {
        assertTrue(
                MarksFile.key(MarksFile.write(MARKS)) != MarksFile.key(MarksFile.write(List.of())));
    }
}
