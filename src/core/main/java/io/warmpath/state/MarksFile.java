package io.warmpath.state;

import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceMark.SlotMemory;
import io.warmpath.events.SourceMark.Spaced;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.SideBlocks;
import io.warmpath.prefix.WorkerSlot;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Where each source stood, as bytes: magic, version, marks, and a CRC-32C over all before it, so
 * that a file cut short or changed is refused. Big-endian. Stateless.
 */
final class MarksFile {
    private static final long MAGIC = 0x5741524d4d41524bL; // WARMMARK
    private static final int VERSION = 2;
    private static final int HEAD = Long.BYTES + Integer.BYTES;

    /** Names of adapters and salts are short; a longer one is damage that the sum has missed. */
    private static final int MAX_TEXT = 1 << 16;

    private MarksFile() {}

    static byte[] write(List<SourceMark> marks) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(MAGIC);
            out.writeInt(VERSION);
            out.writeInt(marks.size());
            for (SourceMark m : marks) {
                out.writeInt(m.dpRank());
                out.writeInt(m.slot().value());
                out.writeLong(m.next());
                out.writeLong(m.fingerprint());
                out.writeBoolean(m.complete());
                out.writeInt(m.memories().size());
                for (SlotMemory s : m.memories()) {
                    memory(s, out);
                }
            }
            out.writeLong(sum(bytes.toByteArray(), bytes.size()));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // writing to memory does not fail
        }
        return bytes.toByteArray();
    }

    /** The sum at the end of a file; names it in the index's. */
    static long key(byte[] file) {
        return file.length < HEAD + Long.BYTES ? 0 : sum(file, file.length - Long.BYTES);
    }

    static List<SourceMark> read(byte[] file) throws SnapshotException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(file))) {
            if (in.readLong() != MAGIC) {
                throw new SnapshotException("it is not a file of marks");
            }
            int version = in.readInt();
            if (version != VERSION) {
                throw new SnapshotException(
                        "its version is " + version + ", this gateway reads " + VERSION);
            }
            long storedKey =
                    new DataInputStream(
                                    new ByteArrayInputStream(
                                            file, file.length - Long.BYTES, Long.BYTES))
                            .readLong();
            if (file.length < HEAD + Long.BYTES || storedKey != key(file)) {
                throw new SnapshotException("its checksum is wrong: cut short or changed");
            }
            List<SourceMark> marks = new ArrayList<>();
            for (int n = in.readInt(); n > 0; n--) {
                marks.add(mark(in));
            }
            return marks;
        } catch (EOFException | IndexOutOfBoundsException e) {
            throw new SnapshotException("it ends too early");
        } catch (IOException e) {
            throw new UncheckedIOException(e); // reading from memory does not fail
        }
    }

    private static void memory(SlotMemory s, DataOutputStream out) throws IOException {
        out.writeInt(s.slot().value());
        sides(s.sides(), out);
        // Short names are written once a block: few blocks have a space of their own.
        List<Spaced> blocks =
                s.blocks().stream()
                        .filter(b -> b.lora().length() + b.salt().length() < MAX_TEXT / 4)
                        .toList();
        out.writeInt(blocks.size());
        for (Spaced b : blocks) {
            out.writeLong(b.hash());
            out.writeByte(b.tiers());
            out.writeUTF(b.lora());
            out.writeUTF(b.salt());
        }
    }

    private static void sides(SideBlocks.Memory m, DataOutputStream out) throws IOException {
        out.writeInt(m.groups().size());
        for (SideBlocks.Group g : m.groups()) {
            out.writeInt(g.id());
            out.writeInt(g.tail());
            out.writeInt(g.stride());
        }
        out.writeInt(m.blocks().size());
        for (SideBlocks.Held b : m.blocks()) {
            out.writeLong(b.name());
            out.writeLong(b.place());
            out.writeLong(b.groups());
            out.writeByte(b.copies().size());
            for (int copies : b.copies()) {
                out.writeInt(copies);
            }
        }
    }

    private static SideBlocks.Memory sides(DataInputStream in) throws IOException {
        List<SideBlocks.Group> groups = new ArrayList<>();
        for (int n = in.readInt(); n > 0; n--) {
            groups.add(new SideBlocks.Group(in.readInt(), in.readInt(), in.readInt()));
        }
        List<SideBlocks.Held> blocks = new ArrayList<>();
        for (int n = in.readInt(); n > 0; n--) {
            long name = in.readLong();
            long place = in.readLong();
            long held = in.readLong();
            List<Integer> copies = new ArrayList<>();
            for (int c = in.readByte(); c > 0; c--) {
                copies.add(in.readInt());
            }
            blocks.add(new SideBlocks.Held(name, place, held, copies));
        }
        return new SideBlocks.Memory(groups, blocks);
    }

    private static SourceMark mark(DataInputStream in) throws IOException {
        int rank = in.readInt();
        WorkerSlot slot = new WorkerSlot(in.readInt());
        long next = in.readLong();
        long fingerprint = in.readLong();
        boolean complete = in.readBoolean();
        List<SlotMemory> memories = new ArrayList<>();
        for (int n = in.readInt(); n > 0; n--) {
            WorkerSlot of = new WorkerSlot(in.readInt());
            SideBlocks.Memory sides = sides(in);
            List<Spaced> blocks = new ArrayList<>();
            for (int b = in.readInt(); b > 0; b--) {
                blocks.add(new Spaced(in.readLong(), in.readByte(), in.readUTF(), in.readUTF()));
            }
            memories.add(new SlotMemory(of, sides, blocks));
        }
        return new SourceMark(rank, slot, next, fingerprint, complete, memories);
    }

    private static long sum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (long) length << 32 | crc.getValue();
    }
}
