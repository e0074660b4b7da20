package io.warmpath.state;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.zip.CRC32C;

/** Marks and an index's file as chunks, read one after the other. Memory: one chunk. One thread. */
final class Upload implements AutoCloseable {
    private final FileChannel index;
    private final byte[] marks;
    private final int chunkBytes;
    private final long bytes;
    private final CRC32C whole = new CRC32C();
    private int chunkSum;

    Upload(Path index, byte[] marks, int chunkBytes) throws IOException {
        this.index = FileChannel.open(index, StandardOpenOption.READ);
        this.marks = marks;
        this.chunkBytes = chunkBytes;
        this.bytes = marks.length + this.index.size();
    }

    int chunks() {
        return (int) ((bytes + chunkBytes - 1) / chunkBytes);
    }

    /** The next one. */
    byte[] chunk(int number) throws IOException {
        long from = (long) number * chunkBytes;
        ByteBuffer to = ByteBuffer.allocate((int) Math.min(chunkBytes, bytes - from));
        if (from < marks.length) {
            to.put(marks, (int) from, (int) Math.min(to.remaining(), marks.length - from));
        }
        while (to.hasRemaining()) {
            if (index.read(to, from + to.position() - marks.length) < 0) {
                throw new EOFException("the index's file became shorter");
            }
        }
        CRC32C crc = new CRC32C();
        crc.update(to.array());
        chunkSum = (int) crc.getValue();
        whole.update(to.array());
        return to.array();
    }

    /** Of the chunk that was read last. */
    int chunkSum() {
        return chunkSum;
    }

    /** When all chunks have been read. */
    SnapshotManifest manifest(long position, List<Integer> chunkSums) {
        return new SnapshotManifest(
                position, marks.length, bytes, (int) whole.getValue(), chunkBytes, chunkSums);
    }

    @Override
    public void close() throws IOException {
        index.close();
    }
}
