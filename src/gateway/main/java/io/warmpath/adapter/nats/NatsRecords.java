package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.PublishOptions;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jboss.logging.Logger;

/**
 * Records of one topic into a stream of their own, each acknowledged by the server. A stream that
 * is there is used as it is; else it is made: in files, {@link #KEPT}, {@link #MOST_BYTES}, the
 * oldest go first. A record that is sent again under its id is stored once. Any thread but an event
 * loop.
 */
public final class NatsRecords {
    private static final Logger LOG = Logger.getLogger(NatsRecords.class);

    private static final Duration KEPT = Duration.ofDays(7);
    private static final long MOST_BYTES = 1L << 30;
    private static final int NOT_FOUND = 404;

    private final NatsLink link;
    private final String stream;
    private final String subject;
    private final AtomicBoolean failing = new AtomicBoolean();
    private volatile boolean made;

    /** {@code topic}: such as {@code usage}. */
    public NatsRecords(NatsLink link, NatsNames names, String topic) {
        this.link = link;
        this.stream = names.recordStream(topic);
        this.subject = names.records(topic);
    }

    /**
     * Stores a record.
     *
     * @param id another one for every record
     * @return completes when the server has it; fails when there is no server, or it will not
     */
    public CompletionStage<Void> store(String id, byte[] record) {
        Connection c = link.connected() ? link.connection().orElse(null) : null;
        if (c == null) {
            return CompletableFuture.failedFuture(new IOException("NATS is not connected"));
        }
        try {
            ensure(c);
            return c.jetStream()
                    .publishAsync(subject, record, PublishOptions.builder().messageId(id).build())
                    .handle((ack, e) -> e)
                    .thenCompose(this::outcome);
        } catch (IOException | JetStreamApiException | IllegalStateException e) {
            return outcome(e);
        }
    }

    /** One warning when the server begins to refuse; a lost connection has its own. */
    private CompletionStage<Void> outcome(Throwable e) {
        if (e == null) {
            failing.set(false);
            return CompletableFuture.completedFuture(null);
        }
        made = false; // somebody may have removed it
        if (link.connected() && failing.compareAndSet(false, true)) {
            LOG.warnf("NATS: the stream %s does not take records: %s", stream, e.getMessage());
        }
        return CompletableFuture.failedFuture(e);
    }

    private synchronized void ensure(Connection c) throws IOException, JetStreamApiException {
        if (made) {
            return;
        }
        JetStreamManagement streams = c.jetStreamManagement();
        try {
            streams.getStreamInfo(stream);
        } catch (JetStreamApiException e) {
            if (e.getErrorCode() != NOT_FOUND) {
                throw e;
            }
            streams.addStream(
                    StreamConfiguration.builder()
                            .name(stream)
                            .description("Records of a gateway's requests")
                            .subjects(subject)
                            .storageType(StorageType.File)
                            .discardPolicy(DiscardPolicy.Old)
                            .maxAge(KEPT)
                            .maxBytes(MOST_BYTES)
                            .build());
        }
        made = true;
    }
}
