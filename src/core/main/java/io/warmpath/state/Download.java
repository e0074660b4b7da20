package io.warmpath.state;

import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Chunks put together again, each checked against the manifest, and all of them at the end. The
 * marks stay in memory, the index goes to a file, or nowhere when only checked. One thread.
 */
final class Download implements AutoCloseable {
    private final SnapshotManifest manifest;
    private final @Nullable FileChannel index;
    private final ByteArrayOutputStream marks = new ByteArrayOutputStream();
    private final CRC32C whole = new CRC32C();

    /** Checks only. */
    Download(SnapshotManifest manifest) {
        this.manifest = manifest;
        this.index = null;
    }

    Download(SnapshotManifest manifest, Path index) throws IOException {
        this.manifest = manifest;
        this.index =
                FileChannel.open(
                        index,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.WRITE);
    }

    /** The next one. */
    void take(int number, Optional<byte[]> found) throws IOException, SnapshotException {
        String name = "chunk " + number + " of " + manifest.chunkSums().size();
        if (found.isEmpty()) {
            throw new SnapshotException(name + " is not there");
        }
        byte[] chunk = found.get();
        if (chunk.length != manifest.sizeOf(number)) {
            throw new SnapshotException(
                    name + " has " + chunk.length + " bytes instead of " + manifest.sizeOf(number));
        }
        CRC32C crc = new CRC32C();
        crc.update(chunk);
        if ((int) crc.getValue() != manifest.chunkSums().get(number)) {
            throw new SnapshotException(name + " has a wrong checksum");
        }
        whole.update(chunk);
        if (index == null) {
            return;
        }
        int ofMarks = (int) Math.min(chunk.length, manifest.marksBytes() - marks.size());
        marks.write(chunk, 0, ofMarks);
        ByteBuffer rest = ByteBuffer.wrap(chunk, ofMarks, chunk.length - ofMarks);
        while (rest.hasRemaining()) {
            index.write(rest);
        }
    }

    /** All have been taken. */
    void end() throws SnapshotException {
        if ((int) whole.getValue() != manifest.sum()) {
            throw new SnapshotException("its checksum is wrong");
        }
    }

    byte[] marks() {
        return marks.toByteArray();
    }

    @Override
    public void close() throws IOException {
        if (index != null) {
            index.close();
        }
    }
}
