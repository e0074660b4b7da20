package io.warmpath.state;

import io.warmpath.prefix.IndexSnapshots.SnapshotException;
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
 * What a shared snapshot consists of: the marks and behind them the index's file, as one run of
 * bytes cut into chunks. Immutable.
 *
 * <p>As bytes: magic, version, the oldest version that can read it, number of fields, fields of
 * (number, length, bytes), CRC-32C over all before it; big-endian. A field of an unknown number is
 * passed over, so a version that only adds fields is read by the one before it.
 *
 * @param position stream sequence up to which everything is in it
 * @param marksBytes how much of it the marks are
 * @param bytes marks and index together
 * @param sum CRC-32C over all of it
 * @param chunkBytes size of every chunk but the last
 * @param chunkSums CRC-32C of each
 */
record SnapshotManifest(
        long position,
        long marksBytes,
        long bytes,
        int sum,
        int chunkBytes,
        List<Integer> chunkSums) {
    static final int VERSION = 1;

    private static final long MAGIC = 0x574152504d414e46L; // WARPMANF
    private static final int HEAD = Long.BYTES + 3 * Integer.BYTES;

    // Field numbers; never given to another meaning.
    private static final int WHOLE = 1;
    private static final int CHUNKS = 2;

    SnapshotManifest {
        chunkSums = List.copyOf(chunkSums);
    }

    /** Size of a chunk. */
    int sizeOf(int chunk) {
        return (int) Math.min(chunkBytes, bytes - (long) chunk * chunkBytes);
    }

    byte[] write() {
        ByteArrayOutputStream to = new ByteArrayOutputStream(256);
        try (DataOutputStream out = new DataOutputStream(to)) {
            out.writeLong(MAGIC);
            out.writeInt(VERSION);
            out.writeInt(VERSION);
            out.writeInt(2);
            out.writeInt(WHOLE);
            out.writeInt(3 * Long.BYTES + Integer.BYTES);
            out.writeLong(position);
            out.writeLong(marksBytes);
            out.writeLong(bytes);
            out.writeInt(sum);
            out.writeInt(CHUNKS);
            out.writeInt(Integer.BYTES * (1 + chunkSums.size()));
            out.writeInt(chunkBytes);
            for (int s : chunkSums) {
                out.writeInt(s);
            }
            out.writeInt(sum(to.toByteArray(), to.size()));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // writing to memory does not fail
        }
        return to.toByteArray();
    }

    static SnapshotManifest read(byte[] file) throws SnapshotException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(file))) {
            if (in.readLong() != MAGIC) {
                throw new SnapshotException("it is not a manifest of a snapshot");
            }
            int version = in.readInt();
            int oldestReader = in.readInt();
            if (oldestReader > VERSION) {
                throw new SnapshotException(
                        ("its version is %s, which needs a gateway that reads version %s;"
                                        + " this one reads %s")
                                .formatted(version, oldestReader, VERSION));
            }
            int end = file.length - Integer.BYTES;
            if (end < HEAD
                    || new DataInputStream(new ByteArrayInputStream(file, end, Integer.BYTES))
                                    .readInt()
                            != sum(file, end)) {
                throw new SnapshotException("its checksum is wrong: cut short or changed");
            }
            return fields(in).checked();
        } catch (EOFException e) {
            throw new SnapshotException("it ends too early");
        } catch (IOException e) {
            throw new UncheckedIOException(e); // reading from memory does not fail
        }
    }

    private static SnapshotManifest fields(DataInputStream in) throws IOException {
        long position = 0;
        long marksBytes = -1;
        long bytes = 0;
        int sum = 0;
        int chunkBytes = 0;
        List<Integer> sums = new ArrayList<>();
        for (int n = in.readInt(); n > 0; n--) {
            int field = in.readInt();
            int length = in.readInt();
            switch (field) {
                case WHOLE -> {
                    position = in.readLong();
                    marksBytes = in.readLong();
                    bytes = in.readLong();
                    sum = in.readInt();
                }
                case CHUNKS -> {
                    chunkBytes = in.readInt();
                    for (int i = 1; i < length / Integer.BYTES; i++) {
                        sums.add(in.readInt());
                    }
                }
                default -> in.skipNBytes(length);
            }
        }
        return new SnapshotManifest(position, marksBytes, bytes, sum, chunkBytes, sums);
    }

    /** A checksum that fits does not make a writer's mistake right. */
    private SnapshotManifest checked() throws SnapshotException {
        if (chunkBytes < 1
                || marksBytes < 0
                || marksBytes > bytes
                || (bytes + chunkBytes - 1) / chunkBytes != chunkSums.size()) {
            throw new SnapshotException("its sizes do not fit each other");
        }
        return this;
    }

    private static int sum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }
}
