package io.warmpath.api.extproc;

/**
 * Cuts a stream of bytes into the messages of one gRPC call. A message that lies whole in what has
 * arrived is handed on without a copy; another one is gathered in an array of its own length.
 * Source: gRPC over HTTP/2, "Length-Prefixed-Message". One thread.
 */
public final class GrpcFrames {
    /** Bytes before each message: whether it is compressed, and its length. */
    public static final int HEAD = 5;

    /** Where messages go. */
    @FunctionalInterface
    public interface Receiver {
        /** The bytes are the receiver's until it returns. */
        void message(byte[] b, int from, int length);
    }

    private final int largest;
    private final Receiver receiver;
    private final byte[] head = new byte[HEAD];
    private int headBytes;
    private byte[] body = {}; // of a message that is not whole yet
    private int bodyBytes;
    private boolean inBody;

    /** {@code largest}: message in bytes. */
    public GrpcFrames(int largest, Receiver receiver) {
        this.largest = largest;
        this.receiver = receiver;
    }

    /**
     * Takes what has arrived; calls the receiver for each message that is whole by it.
     *
     * @throws WireFormatException a message is compressed or too large; nothing more can be read
     */
    public void add(byte[] b, int from, int length) {
        int at = from;
        int end = from + length;
        while (at < end) {
            if (!inBody) {
                int take = Math.min(HEAD - headBytes, end - at);
                System.arraycopy(b, at, head, headBytes, take);
                headBytes += take;
                at += take;
                if (headBytes < HEAD) {
                    return;
                }
                int whole = length();
                headBytes = 0;
                if (whole <= end - at) {
                    receiver.message(b, at, whole);
                    at += whole;
                    continue;
                }
                inBody = true;
                body = new byte[whole];
                bodyBytes = 0;
            }
            int take = Math.min(body.length - bodyBytes, end - at);
            System.arraycopy(b, at, body, bodyBytes, take);
            bodyBytes += take;
            at += take;
            if (bodyBytes == body.length) {
                byte[] whole = body;
                inBody = false;
                body = new byte[0];
                receiver.message(whole, 0, whole.length);
            }
        }
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
