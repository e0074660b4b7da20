package io.warmpath.adapter.nats;

import io.nats.client.BaseConsumerContext;
import io.nats.client.Connection;
import io.nats.client.ConsumeOptions;
import io.nats.client.IterableConsumer;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.JetStreamStatusCheckedException;
import io.nats.client.Message;
import io.nats.client.StreamContext;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.OrderedConsumerConfiguration;
import io.nats.client.impl.NatsJetStreamMetaData;
import java.io.IOException;
import java.time.Duration;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Reads a stream from a number on, in its order. One thread. */
final class StreamReader implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(StreamReader.class);

    /** Asked for at once; more comes before these are read. */
    private static final int MESSAGES = 1_000;

    /** Before messages are sent again: while a source catches up none is acknowledged. */
    private static final Duration ACK_WAIT = Duration.ofMinutes(10);

    /** Takes a message; its number in the stream. */
    interface Taker {
        void take(String subject, long sequence, byte[] data);
    }

    private final IterableConsumer messages;
    private final boolean durable;
    private @Nullable Message unacknowledged;
    private long position;
    private long delivered;
    private long pending;

    private StreamReader(IterableConsumer messages, boolean durable, long position, long pending) {
        this.messages = messages;
        this.durable = durable;
        this.position = position;
        this.pending = pending;
    }

    /**
     * A consumer with a name, which tells others how far this gateway has come. One of this name
     * that is there begins anew: its place would be that of another life.
     *
     * @param position what lies behind it is read
     */
    static StreamReader durable(Connection c, String stream, String name, long position)
            throws IOException, JetStreamApiException {
        JetStreamManagement streams = c.jetStreamManagement();
        try {
            streams.deleteConsumer(stream, name);
        } catch (JetStreamApiException e) {
            if (e.getErrorCode() != 404) {
                throw e;
            }
        }
        ConsumerConfiguration config =
                ConsumerConfiguration.builder()
                        .durable(name)
                        .deliverPolicy(DeliverPolicy.ByStartSequence)
                        .startSequence(position + 1)
                        .ackPolicy(AckPolicy.All)
                        .ackWait(ACK_WAIT)
                        .maxAckPending(-1)
                        .build();
        long pending = streams.createConsumer(stream, config).getNumPending();
        StreamContext context = c.getStreamContext(stream);
        return new StreamReader(iterate(context.getConsumerContext(name)), true, position, pending);
    }

    /** For one subject and without a name. */
    static StreamReader of(Connection c, String stream, String subject, long position)
            throws IOException, JetStreamApiException {
        OrderedConsumerConfiguration config =
                new OrderedConsumerConfiguration()
                        .filterSubject(subject)
                        .deliverPolicy(DeliverPolicy.ByStartSequence)
                        .startSequence(position + 1);
        return new StreamReader(
                iterate(c.getStreamContext(stream).createOrderedConsumer(config)),
                false,
                position,
                Long.MAX_VALUE);
    }

    private static IterableConsumer iterate(BaseConsumerContext consumer)
            throws IOException, JetStreamApiException {
        return consumer.iterate(ConsumeOptions.builder().batchSize(MESSAGES).build());
    }

    /** Number of the newest message read. */
    long position() {
        return position;
    }

    /** Messages the stream had behind the newest that was read. */
    long pending() {
        return pending;
    }

    /**
     * Reads what is there.
     *
     * @param most messages
     * @param waitMillis for the first
     * @return how many
     * @throws IOException when some were lost on the way, or the consumer is gone: open another
     */
    int read(int most, long waitMillis, Taker taker) throws IOException, InterruptedException {
        int n = 0;
        try {
            long wait = waitMillis;
            while (n < most) {
                Message m = messages.nextMessage(wait);
                if (m == null) {
                    if (messages.isFinished()) {
                        throw new IOException("the consumer has ended");
                    }
                    break;
                }
                wait = 1;
                n++;
                NatsJetStreamMetaData at = m.metaData();
                if (durable && at.consumerSequence() != delivered + 1) {
                    throw new IOException("messages were lost on the way");
                }
                delivered = at.consumerSequence();
                pending = at.pendingCount();
                unacknowledged = m;
                if (at.streamSequence() > position) {
                    position = at.streamSequence();
                    taker.take(m.getSubject(), position, m.getData());
                }
            }
        } catch (JetStreamStatusCheckedException | IllegalStateException e) {
            throw new IOException(e.getMessage(), e);
        }
        return n;
    }

    /** All that was read has been applied. */
    void acknowledge() {
        if (unacknowledged != null) {
            unacknowledged.ack();
            unacknowledged = null;
        }
    }

    @Override
    public void close() {
        try {
            messages.close();
        } catch (Exception e) {
            // The server forgets a consumer without a name by itself.
            LOG.debugf("consumer not closed: %s", e);
        }
    }
}
