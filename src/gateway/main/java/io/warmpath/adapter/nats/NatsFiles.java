package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.ObjectStore;
import io.nats.client.PurgeOptions;
import io.nats.client.api.ObjectInfo;
import io.nats.client.api.ObjectStoreConfiguration;
import io.nats.client.api.StorageType;
import io.nats.client.support.NatsObjectStoreUtil;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.state.SharedFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Optional;

/**
 * An object store; made when it is not there, else used as it is. Any thread but an event loop.
 * Memory: a file at a time.
 */
public final class NatsFiles implements SharedFiles {
    /** Snapshots come in chunks of 4 MiB. */
    private static final int MOST_BYTES = 64 << 20;

    /** Grows with what comes: a description may say anything. */
    static final class Bounded extends OutputStream {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] b, int from, int length) throws IOException {
            if (length > MOST_BYTES - bytes.size()) {
                throw tooLong();
            }
            bytes.write(b, from, length);
        }
    }

    private final NatsLink link;
    private final String bucket;
    private volatile boolean made;

    public NatsFiles(NatsLink link, String bucket) {
        this.link = link;
        this.bucket = bucket;
    }

    @Override
    public void put(String name, byte[] bytes) throws IOException {
        NatsCall.ask(link, "uploading " + name, c -> open(c).put(name, bytes));
    }

    @Override
    public Optional<byte[]> get(String name) throws IOException, SnapshotException {
        try {
            return NatsCall.ask(
                    link,
                    "downloading " + name,
                    c -> {
                        ObjectStore store = open(c);
                        ObjectInfo info = store.getInfo(name);
                        if (info == null) {
                            return Optional.empty();
                        }
                        if (info.getSize() > MOST_BYTES) {
                            throw tooLong();
                        }
                        Bounded out = new Bounded();
                        store.get(name, out);
                        return Optional.of(out.bytes.toByteArray());
                    });
        } catch (NatsCall.Damaged | NatsCall.NotThere e) {
            // Its description is there; what it describes is not whole, or not there.
            throw new SnapshotException(
                    "the server's copy of " + name + " is damaged: " + e.getMessage());
        }
    }

    @Override
    public List<String> names() throws IOException {
        return NatsCall.ask(
                link,
                "listing " + bucket,
                c ->
                        open(c).getList().stream()
                                .map(i -> String.valueOf(i.getObjectName()))
                                .toList());
    }

    @Override
    public void remove(String name) throws IOException {
        NatsCall.ask(
                link,
                "removing " + name,
                c -> {
                    ObjectStore store = open(c);
                    if (store.getInfo(name) != null) {
                        store.delete(name);
                        // Names are never used again: the note that it was deleted goes too.
                        c.jetStreamManagement()
                                .purgeStream(
                                        NatsObjectStoreUtil.toStreamName(bucket),
                                        PurgeOptions.subject(
                                                NatsObjectStoreUtil.toMetaPrefix(bucket)
                                                        + NatsObjectStoreUtil.encodeForSubject(
                                                                name)));
                    }
                    return true;
                });
    }

    private static NatsCall.Damaged tooLong() {
        return new NatsCall.Damaged("more than " + MOST_BYTES + " bytes");
    }

    private ObjectStore open(Connection c) throws IOException, JetStreamApiException {
        if (!made) {
            if (!c.objectStoreManagement().getBucketNames().contains(bucket)) {
                c.objectStoreManagement()
                        .create(
                                ObjectStoreConfiguration.builder(bucket)
                                        .description("Warmpath snapshots of the prefix index")
                                        .storageType(StorageType.File)
                                        .build());
            }
            made = true;
        }
        return c.objectStore(bucket);
    }
}
