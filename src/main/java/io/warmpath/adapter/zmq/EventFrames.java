package io.warmpath.adapter.zmq;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The ZeroMQ frames around a payload: a live message, a replay request, a replay answer. */
final class EventFrames {
    /** Sequence number of the message that ends a replay. */
    private static final long END = -1L;

    /**
     * @param end true for the message that ends a replay; then nothing else counts
     */
    record Frame(long sequence, byte[] payload, boolean end) {}

    private EventFrames() {}

    /** Topic, sequence, payload; null when it is anything else. */
    static @Nullable Frame live(List<byte[]> frames) {
        if (frames.size() != 3) {
            return null;
        }
        Frame frame = frame(frames.get(1), frames.get(2));
        return frame == null || frame.end ? null : frame;
    }

    /**
     * An answer as a DEALER sees it: delimiter, then sequence and payload, with or without the
     * topic before them. Null when it is anything else.
     */
    static @Nullable Frame replay(List<byte[]> frames) {
        int n = frames.size();
        if (n < 3 || n > 4 || frames.get(0).length != 0) {
            return null;
        }
        return frame(frames.get(n - 2), frames.get(n - 1));
    }

    /** What a DEALER sends to ask for everything from {@code sequence} on. */
    static List<byte[]> request(long sequence) {
        byte[] raw = new byte[Long.BYTES];
        for (int i = 0; i < raw.length; i++) {
            raw[i] = (byte) (sequence >>> (56 - 8 * i));
        }
        return List.of(new byte[0], raw);
    }

    private static @Nullable Frame frame(byte[] sequence, byte[] payload) {
        if (sequence.length != Long.BYTES) {
            return null;
        }
        long value = 0;
        for (byte b : sequence) {
            value = (value << 8) | (b & 0xff);
        }
        return new Frame(value, payload, value == END || payload.length == 0);
    }
}
