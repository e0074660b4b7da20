package io.warmpath.api.extproc;

import java.util.Arrays;

/**
 * Cuts a stream of bytes into the messages of one gRPC call. A message that lies whole in what has
 * arrived is handed on without a copy; another one is gathered in an array that grows with what
 * arrives: the length that the other side announces is a bound and no more. Source: gRPC over
 * HTTP/2, "Length-Prefixed-Message". One thread.
 */
public final class GrpcFrames {
    /** Bytes before each message: whether it is compressed, and its length. */
    public static final int HEAD = 5;

    /** Where messages go. */
    @FunctionalInterface
    public interface Receiver {
        /** The bytes are the receiver's until it returns. */
        void message(byte[] b, int from, int length);

        /**
         * More memory is needed for a message that is not whole yet.
         *
         * @return false: there is none
         */
        default boolean gathers(int bytes) {
            return true;
        }

        /** All that was gathered is let go of. */
        default void gathered() {}
    }

    private static final byte[] NOTHING = {};

    private final int largest;
    private final Receiver receiver;
    private final byte[] head = new byte[HEAD];
    private int headBytes;
    private byte[] body = NOTHING; // of a message that is not whole yet
    private int bodyBytes;
    private int whole; // bytes of that message; 0: none has begun

    /** {@code largest}: message in bytes. */
    public GrpcFrames(int largest, Receiver receiver) {
        this.largest = largest;
        this.receiver = receiver;
    }

    /**
     * Takes what has arrived; calls the receiver for each message that is whole by it.
     *
     * @return false: there is no memory for the rest, and nothing more can be read
     * @throws WireFormatException a message is compressed or too large; nothing more can be read
     */
    public boolean add(byte[] b, int from, int length) {
        int at = from;
        int end = from + length;
        while (at < end) {
            if (whole == 0) {
                int take = Math.min(HEAD - headBytes, end - at);
                System.arraycopy(b, at, head, headBytes, take);
                headBytes += take;
                at += take;
                if (headBytes < HEAD) {
                    return true;
                }
                int announced = length();
                headBytes = 0;
                if (announced <= end - at) {
                    receiver.message(b, at, announced);
                    at += announced;
                } else {
                    whole = announced;
                }
                continue;
            }
            int take = Math.min(whole - bodyBytes, end - at);
            if (!fits(bodyBytes + take)) {
                return false;
            }
            System.arraycopy(b, at, body, bodyBytes, take);
            bodyBytes += take;
            at += take;
            if (bodyBytes == whole) {
                int all = whole;
                byte[] message = body;
                forget();
                receiver.message(message, 0, all);
                receiver.gathered();
            }
        }
        return true;
    }

    /** A message has begun and is not whole. */
    public boolean isWithin() {
        return whole > 0 || headBytes > 0;
    }

    /** Nothing more comes: what is not whole is let go of. */
    public void end() {
        forget();
        receiver.gathered();
    }

    private void forget() {
        whole = 0;
        bodyBytes = 0;
        body = NOTHING;
    }

    /** At most twice what has come. */
    private boolean fits(int needed) {
        if (needed <= body.length) {
            return true;
        }
        int size = Math.min(whole, Math.max(needed, 2 * body.length));
        if (!receiver.gathers(size - body.length)) {
            return false;
        }
        body = Arrays.copyOf(body, size);
        return true;
    }

    private int length() {
        if (head[0] != 0) {
            throw new WireFormatException("compressed messages are not understood");
        }
        long length = 0;
        for (int i = 1; i < HEAD; i++) {
            length = (length << 8) | (head[i] & 0xff);
        }
        if (length > largest) {
            throw new WireFormatException(
                    "a message of " + length + " bytes; " + largest + " are the most");
        }
        return (int) length;
    }
}
