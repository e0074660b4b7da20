package io.warmpath.sim.wire;

import io.warmpath.sim.cache.CacheEvent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.zeromq.ZMQ;

/**
 * One rank's PUB socket: numbers the batches, keeps the newest for replay, sends. {@link #publish}
 * and {@link #dropNext} on one thread; the socket is handed over to it once.
 */
public final class EventPublisher {
    private final ZMQ.Socket socket;
    private final byte[] topic;
    private final WireFormat format;
    private final EventEncoder encoder;
    private final ReplayBuffer buffer;
    private final InstantSource clock;
    private final int rank;
    private long nextSequence;
    private int toDrop;
    private long dropped;

    public EventPublisher(
            ZMQ.Socket socket,
            String topic,
            WireFormat format,
            EventEncoder encoder,
            ReplayBuffer buffer,
            InstantSource clock,
            int rank) {
        this.socket = socket;
        this.topic = topic.getBytes(StandardCharsets.UTF_8);
        this.format = format;
        this.encoder = encoder;
        this.buffer = buffer;
        this.clock = clock;
        this.rank = rank;
    }

    /** Sends the events as one batch under the next sequence number. */
    public void publish(List<CacheEvent> events) {
        Instant now = clock.instant();
        byte[] payload =
                encoder.encode(
                        now.getEpochSecond() + now.getNano() / 1e9,
                        EventGrouping.of(format, events),
                        rank);
        long sequence = nextSequence++;
        buffer.add(sequence, payload);
        if (toDrop > 0) {
            toDrop--;
            dropped++;
            return;
        }
        socket.sendMore(topic);
        socket.sendMore(sequenceFrame(sequence));
        socket.send(payload);
    }

    /** The next {@code count} batches get their number and can be replayed, but are not sent. */
    public void dropNext(int count) {
        toDrop = count;
    }

    public long published() {
        return nextSequence;
    }

    public long dropped() {
        return dropped;
    }

    static byte[] sequenceFrame(long sequence) {
        return ByteBuffer.allocate(Long.BYTES).putLong(sequence).array();
    }
}
