package io.warmpath.wiring.channel;

import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsRecords;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The connection that records go over where a channel is on NATS; one of its own, so that neither
 * events nor records wait for the other. Any thread but an event loop.
 */
@Singleton
public class RecordLink implements AutoCloseable {
    private final Map<String, NatsRecords> topics = new ConcurrentHashMap<>();
    private volatile @Nullable NatsLink link;
    private volatile @Nullable NatsNames names;
    private volatile boolean closed;

    /** From here on records are stored. Once. */
    public void open(NatsLink link, NatsNames names) {
        this.names = names;
        this.link = link;
    }

    /** The gateway has ended: nothing is tried again. */
    public boolean closed() {
        return closed;
    }

    /** Completes when the server has stored it. */
    public CompletionStage<Void> store(String topic, String id, byte[] record) {
        NatsLink to = link;
        NatsNames known = names;
        if (to == null || known == null || closed) {
            return CompletableFuture.failedFuture(new IOException("NATS is not connected"));
        }
        return topics.computeIfAbsent(topic, t -> new NatsRecords(to, known, t)).store(id, record);
    }

    @Override
    public void close() {
        closed = true;
        NatsLink known = link;
        if (known != null) {
            known.close();
        }
    }
}
