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
import java.util.List;
import java.util.Optional;

/**
 * An object store; made when it is not there, else used as it is. Any thread but an event loop.
 * Memory: a file at a time.
 */
public final class NatsFiles implements SharedFiles {
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
                        ByteArrayOutputStream out = new ByteArrayOutputStream((int) info.getSize());
                        store.get(name, out);
                        return Optional.of(out.toByteArray());
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
