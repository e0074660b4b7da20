package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.IndexSnapshots.Taken;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.WorkerSlot;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The calls of one index that write and read its file. Rare and long; memory of their own. */
final class NativeSnapshots {
    private static final int MESSAGE_BYTES = 1024;
    private static final int ALIGNMENT = 8;

    /** The caller's key is the one watermark of the file; this is its name. */
    private static final long KEY = 0x6b65790077617270L;

    private NativeSnapshots() {}

    static Taken save(long handle, Path file, List<Label> labels, long key)
            throws SnapshotException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment watermark = arena.allocate(KvLayout.WATERMARK_SIZE, ALIGNMENT);
            OffHeap.values(watermark).putLong(KvLayout.WATERMARK_SOURCE_AT, KEY);
            OffHeap.values(watermark).putLong(KvLayout.WATERMARK_SEQUENCE_AT, key);
            MemorySegment slots =
                    arena.allocate(
                            (long) KvLayout.SNAPSHOT_SLOT_SIZE * Math.max(1, labels.size()),
                            ALIGNMENT);
            ByteBuffer values = OffHeap.values(slots);
            for (int i = 0; i < labels.size(); i++) {
                Label label = labels.get(i);
                int at = i * KvLayout.SNAPSHOT_SLOT_SIZE;
                values.putInt(at + KvLayout.SNAPSHOT_SLOT_SLOT_AT, label.slot().value());
                values.putInt(at + KvLayout.SNAPSHOT_SLOT_RANK_AT, label.rank());
                values.putLong(at + KvLayout.SNAPSHOT_SLOT_WORKER_AT, label.worker());
            }
            MemorySegment info = arena.allocate(KvLayout.SNAPSHOT_INFO_SIZE, ALIGNMENT);
            MemorySegment message = arena.allocate(MESSAGE_BYTES);
            int status =
                    KvIndexLibrary.kvi_snapshot_save(
                            handle,
                            cString(arena, file.toString()).address(),
                            watermark.address(),
                            1,
                            slots.address(),
                            labels.size(),
                            info.address(),
                            message.address(),
                            MESSAGE_BYTES);
            check(status, "kvi_snapshot_save", message);
            return new Taken(
                    List.of(),
                    key,
                    OffHeap.values(info).getLong(KvLayout.SNAPSHOT_INFO_BYTES_AT),
                    0,
                    OffHeap.values(info).getLong(KvLayout.SNAPSHOT_INFO_LONGEST_HOLD_AT));
        }
    }

    static Taken load(long handle, Path file) throws SnapshotException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment watermarks = arena.allocate(KvLayout.WATERMARK_SIZE, ALIGNMENT);
            MemorySegment slots =
                    arena.allocate(
                            (long) KvLayout.SNAPSHOT_SLOT_SIZE * PrefixIndex.MAX_SLOTS, ALIGNMENT);
            MemorySegment info = arena.allocate(KvLayout.SNAPSHOT_INFO_SIZE, ALIGNMENT);
            MemorySegment message = arena.allocate(MESSAGE_BYTES);
            int status =
                    KvIndexLibrary.kvi_snapshot_load(
                            handle,
                            cString(arena, file.toString()).address(),
                            watermarks.address(),
                            1,
                            slots.address(),
                            PrefixIndex.MAX_SLOTS,
                            info.address(),
                            message.address(),
                            MESSAGE_BYTES);
            check(status, "kvi_snapshot_load", message);
            int marks = OffHeap.values(info).getInt(KvLayout.SNAPSHOT_INFO_WATERMARKS_AT);
            boolean ours =
                    marks == 1
                            && OffHeap.values(watermarks).getLong(KvLayout.WATERMARK_SOURCE_AT)
                                    == KEY;
            return new Taken(
                    labels(
                            OffHeap.values(slots),
                            OffHeap.values(info).getInt(KvLayout.SNAPSHOT_INFO_SLOTS_AT)),
                    ours ? OffHeap.values(watermarks).getLong(KvLayout.WATERMARK_SEQUENCE_AT) : 0,
                    OffHeap.values(info).getLong(KvLayout.SNAPSHOT_INFO_BYTES_AT),
                    OffHeap.values(info).getLong(KvLayout.SNAPSHOT_INFO_DROPPED_RUNS_AT),
                    0);
        }
    }

    /** As C has it: UTF-8 and a zero. */
    private static MemorySegment cString(Arena arena, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        MemorySegment memory = arena.allocate(utf8.length + 1L); // zeros
        OffHeap.values(memory).put(0, utf8);
        return memory;
    }

    private static List<Label> labels(ByteBuffer slots, int count) {
        List<Label> labels = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int at = i * KvLayout.SNAPSHOT_SLOT_SIZE;
            labels.add(
                    new Label(
                            new WorkerSlot(slots.getInt(at + KvLayout.SNAPSHOT_SLOT_SLOT_AT)),
                            slots.getLong(at + KvLayout.SNAPSHOT_SLOT_WORKER_AT),
                            slots.getInt(at + KvLayout.SNAPSHOT_SLOT_RANK_AT)));
        }
        return labels;
    }

    private static void check(int status, String call, MemorySegment message)
            throws SnapshotException {
        if (status == KvLayout.E_DAMAGED || status == KvLayout.E_IO) {
            byte[] text = new byte[MESSAGE_BYTES];
            OffHeap.values(message).get(0, text);
            int length = 0;
            while (length < text.length && text[length] != 0) {
                length++;
            }
            throw new SnapshotException(new String(text, 0, length, StandardCharsets.UTF_8));
        }
        if (status == KvLayout.E_MEMORY) {
            throw new SnapshotException("there is no memory for it");
        }
        Status.check(status, call);
    }
}
