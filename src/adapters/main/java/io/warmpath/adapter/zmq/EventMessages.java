package io.warmpath.adapter.zmq;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The ZeroMQ frames around a payload: a live message, a replay request, a replay answer. */
public final class EventMessages {
    /** Sequence number of the message that ends a replay. */
    private static final long END = -1L;

    private static final int LIVE_FRAMES = 3;

    /**
     * @param end true for the message that ends a replay; then nothing else counts
     */
    public record Message(long sequence, byte[] payload, boolean end) {}

    private EventMessages() {}

    /** Topic, sequence, payload; empty when it is anything else. */
    public static Optional<Message> live(List<byte[]> frames) {
        return frames.size() == LIVE_FRAMES
                ? message(frames.get(1), frames.get(2)).filter(m -> !m.end)
                : Optional.empty();
    }

    /** What a live message has in place of its frames, in words. */
    static String form(List<byte[]> frames) {
        return frames.stream()
                        .limit(LIVE_FRAMES + 1)
                        .map(frame -> Integer.toString(frame.length))
                        .collect(
                                Collectors.joining(", ", frames.size() + " frame(s) of ", " bytes"))
                + ", not topic, sequence number of 8 bytes and payload";
    }

    /**
     * An answer as a DEALER sees it: delimiter, then sequence and payload, with or without the
     * topic before them. Empty when it is anything else.
     */
    public static Optional<Message> replay(List<byte[]> frames) {
        int n = frames.size();
        return n < 3 || n > 4 || frames.getFirst().length != 0
                ? Optional.empty()
                : message(frames.get(n - 2), frames.get(n - 1));
    }

    /** What a DEALER sends to ask for everything from {@code sequence} on. */
    static List<byte[]> request(long sequence) {
        byte[] raw = new byte[Long.BYTES];
        for (int i = 0; i < raw.length; i++) {
            raw[i] = (byte) (sequence >>> (56 - 8 * i));
        }
        return List.of(new byte[0], raw);
    }

    private static Optional<Message> message(byte[] sequence, byte[] payload) {
        if (sequence.length != Long.BYTES) {
            return Optional.empty();
        }
        long value = 0;
        for (byte b : sequence) {
            value = (value << 8) | (b & 0xff);
        }
        return Optional.of(new Message(value, payload, value == END || payload.length == 0));
    }
}
