package io.warmpath.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.SourceMark;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.SideBlocks;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The content of each snapshot is its stream position. */
class SharedSnapshotsTest {
    private static final List<Label> LABELS = List.of(new Label(new WorkerSlot(4), 9, 0));
    private static final int CHUNK = 100;
    private static final long LENGTH = 1000;

    @TempDir Path folder;
    private SharedMemory shared = new SharedMemory();
    private long now;
    private long stream = 3;
    private final List<String> refused = new ArrayList<>();

    private final class Gateway {
        final SharedSnapshots snapshots =
                new SharedSnapshots(shared, shared.files(), "radix-state", CHUNK);
        final Lease lease;
        final NumberIndex index = new NumberIndex();
        final Path scratch;

        Gateway(String name) {
            lease = new Lease(shared, "lock", name, LENGTH, () -> now);
            scratch = folder.resolve(name);
        }

        boolean publish(long position) throws IOException, SnapshotException {
            if (!lease.tryTake()) {
                return false;
            }
            index.content = position;
            return snapshots
                    .publish(
                            lease,
                            SharedSnapshots.prepare(
                                    index, scratch, LABELS, marks(position), position),
                            stream,
                            now)
                    .isPresent();
        }

        /** 0 for nothing. */
        long load() throws IOException {
            index.content = -1;
            index.labels = LABELS;
            Optional<SharedSnapshots.Loaded> l = snapshots.load(index, scratch, refused::add);
            if (l.isEmpty()) {
                return 0;
            }
            assertEquals(l.get().item().position(), index.content);
            assertEquals(marks(index.content), l.get().marks());
            assertEquals(LABELS, l.get().slots());
            return index.content;
        }
    }

    private static List<SourceMark> marks(long next) {
        return List.of(
                new SourceMark(
                        0,
                        new WorkerSlot(4),
                        next,
                        1,
                        true,
                        List.of(
                                new SourceMark.SlotMemory(
                                        new WorkerSlot(4),
                                        SideBlocks.Memory.NONE,
                                        List.of(new SourceMark.Spaced(1, 2, "l", "s"))))));
    }

    @Test
    void the_newest_of_two_kept_is_taken_up_by_another_gateway() throws Exception {
        Gateway a = new Gateway("a");
        Gateway b = new Gateway("b");
        assertEquals(0, b.load());
        for (int i = 1; i <= 4; i++) {
            assertTrue(a.publish(i * 100L));
        }
        assertFalse(a.publish(399), "a gateway that is behind adds nothing");
        assertEquals(400, b.load());
        assertEquals(400, b.snapshots.catalog().covered());
        assertEquals(300, b.snapshots.catalog().settled());
        assertEquals(10, shared.files.size(), "two snapshots of four chunks and a manifest");
        assertEquals(0, b.snapshots.strays(b.snapshots.catalog()).size());
        assertEquals(List.of(), refused);
    }

    @Test
    void whatever_part_is_damaged_is_named_and_the_one_before_used() throws Exception {
        Gateway a = new Gateway("a");
        assertTrue(a.publish(1));
        assertEquals(0, a.snapshots.catalog().settled(), "the one snapshot may be damaged");
        assertTrue(a.publish(2));
        String newest = a.snapshots.catalog().items().get(0).name();
        List<String> parts =
                shared.files.keySet().stream().filter(f -> f.contains("/" + newest + "/")).toList();
        assertEquals(5, parts.size());
        Gateway b = new Gateway("b");
        for (String part : parts) {
            byte[] whole = shared.files.get(part);
            for (int at = 0; at < whole.length; at += 7) {
                byte[] flipped = whole.clone();
                flipped[at] = (byte) (flipped[at] ^ (1 << (at % 8)));
                shared.files.put(part, flipped);
                assertEquals(1, b.load(), part + " flipped at " + at);
                shared.files.put(part, Arrays.copyOf(whole, at));
                assertEquals(1, b.load(), part + " cut at " + at);
            }
            shared.files.remove(part);
            assertEquals(1, b.load(), part);
            assertTrue(refused.get(refused.size() - 1).contains(newest + " is not used"), part);
            shared.files.put(part, whole);
        }
        assertEquals(2, b.load(), "put right again");
    }

    @Test
    void a_writer_killed_at_any_step_leaves_what_was_there_or_the_new_one_whole() throws Exception {
        int steps = 0;
        boolean killed = true;
        while (killed) {
            shared = new SharedMemory();
            Gateway a = new Gateway("a");
            assertTrue(a.publish(1));
            assertTrue(a.publish(2));
            int until = steps++;
            killed = false;
            int[] left = {until};
            shared.step =
                    call -> {
                        if (left[0]-- <= 0) {
                            throw new IOException("killed at " + call);
                        }
                    };
            try {
                assertTrue(a.publish(3));
            } catch (IOException e) {
                killed = true;
            }
            shared.step = call -> {};
            Gateway b = new Gateway("b");
            long found = b.load();
            assertTrue(found == 2 || found == 3, "killed at step " + until + ": " + found);
            // The lock of the dead one has to run out first.
            b.publish(4);
            now += 2 * LENGTH;
            assertTrue(b.publish(4));
            assertEquals(4, new Gateway("c").load());
            assertEquals(
                    0,
                    b.snapshots.strays(b.snapshots.catalog()).size(),
                    "half an upload is cleaned away");
        }
        assertTrue(steps > 15, "steps " + steps);
        assertEquals(List.of(), refused);
    }

    @Test
    void a_writer_that_stands_still_anywhere_harms_nobody_who_goes_on() throws Exception {
        int stands = 0;
        boolean stood = true;
        while (stood) {
            stood = false;
            // The other publishes whole, or is killed somewhere in it itself.
            for (int until : new int[] {1, 4, 9, 16, Integer.MAX_VALUE}) {
                stood |= standsStill(stands, until);
            }
            stands++;
        }
        assertTrue(stands > 15, "stands " + stands);
    }

    /** False when the writer was through before that step. */
    private boolean standsStill(int at, int otherUntil) throws Exception {
        shared = new SharedMemory();
        Gateway a = new Gateway("a");
        Gateway b = new Gateway("b");
        assertTrue(a.publish(1));
        assertTrue(a.publish(2));
        assertFalse(b.publish(3), "seen for the first time");
        int[] left = {at};
        boolean[] stood = {false};
        SharedMemory.Step[] other = {call -> {}};
        shared.step =
                call -> {
                    if (stood[0]) {
                        other[0].before(call);
                    } else if (left[0]-- == 0) {
                        stood[0] = true;
                        now += 2 * LENGTH;
                        int[] others = {otherUntil};
                        other[0] =
                                c -> {
                                    if (others[0]-- == 0) {
                                        throw new IOException("killed at " + c);
                                    }
                                };
                        try {
                            // It may see the writer's last renewal only now.
                            if (!b.publish(3)) {
                                now += 2 * LENGTH;
                                b.publish(3);
                            }
                        } catch (SnapshotException | IOException e) {
                            // killed
                        }
                        other[0] = c -> {};
                    }
                };
        try {
            a.publish(4);
        } catch (IOException | SnapshotException e) {
            // What it had uploaded is gone, or its lease is.
        }
        shared.step = call -> {};
        SnapshotCatalog catalog = b.snapshots.catalog();
        for (SnapshotCatalog.Item item : catalog.items()) {
            assertEquals(
                    5,
                    shared.files.keySet().stream()
                            .filter(f -> f.contains("/" + item.name() + "/"))
                            .count(),
                    "stood at " + at + ", the other until " + otherUntil + ": " + catalog);
        }
        refused.clear();
        assertEquals(catalog.covered(), new Gateway("c").load());
        assertEquals(List.of(), refused);
        return stood[0];
    }

    @Test
    void a_stream_that_was_made_anew_counts_from_one_again() throws Exception {
        Gateway a = new Gateway("a");
        assertTrue(a.publish(900));
        assertTrue(a.publish(1000));
        stream++;
        SnapshotCatalog catalog = a.snapshots.catalog();
        assertEquals(0, catalog.of(stream).covered());
        assertEquals(0, catalog.of(stream).settled(), "nothing of the new stream may go");
        assertTrue(a.publish(5));
        assertEquals(0, a.snapshots.catalog().of(stream).settled());
        assertTrue(a.publish(6));
        assertEquals(5, a.snapshots.catalog().of(stream).settled());
        assertEquals(6, a.load());
    }

    @Test
    void a_reset_forgets_all_and_stops_a_writer_on_its_way() throws Exception {
        Gateway a = new Gateway("a");
        Gateway b = new Gateway("b");
        assertTrue(a.publish(1));
        assertFalse(b.lease.tryTake());
        int[] left = {4};
        shared.step =
                call -> {
                    if (left[0]-- == 0) {
                        now += 2 * LENGTH;
                        assertTrue(b.lease.tryTake());
                        assertTrue(b.snapshots.reset(b.lease));
                    }
                };
        assertFalse(a.publish(2));
        shared.step = call -> {};
        assertEquals(0, b.load());
        assertEquals(List.of(), b.snapshots.catalog().items());
    }

    @Test
    void the_catalog_of_a_next_version_is_read() throws Exception {
        SnapshotCatalog read =
                SnapshotCatalog.read(
                        "warmpath-snapshots 2\nfence 7 more\nmood good\nsnapshot a-1 5 6 7 8 and more\n"
                                .getBytes(StandardCharsets.UTF_8));
        assertEquals(
                new SnapshotCatalog(7, List.of(new SnapshotCatalog.Item("a-1", 5, 6, 7, 8))), read);
        assertEquals(read, SnapshotCatalog.read(read.write()));
        assertThrows(IllegalArgumentException.class, () -> SnapshotCatalog.read(new byte[] {1, 2}));
    }
}
