package io.warmpath.state;

import io.warmpath.prefix.IndexSnapshots;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** An index whose content is a number, in a file of some length. */
public final class NumberIndex implements IndexSnapshots {
    private static final int BYTES = 250;

    public long content;
    public List<Label> labels = List.of();

    @Override
    public Taken save(Path file, List<Label> slots, long key) {
        ByteBuffer out = ByteBuffer.allocate(BYTES).putLong(key).putLong(content);
        while (out.hasRemaining()) {
            out.put((byte) content);
        }
        try {
            Files.write(file, out.array());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        labels = List.copyOf(slots);
        return new Taken(List.of(), key, BYTES, 0, 0);
    }

    @Override
    public Taken load(Path file) throws SnapshotException {
        try {
            ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file));
            if (in.remaining() != BYTES) {
                throw new SnapshotException("damaged");
            }
            long key = in.getLong();
            content = in.getLong();
            return new Taken(labels, key, BYTES, 0, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
