package io.warmpath.adapter.zmq;

import io.warmpath.adapter.zmq.MessageRoom.NoRoom;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Takes the bytes of one connection apart, in whatever pieces they come: ZMTP 3's greeting, then
 * commands and messages.
 *
 * <p>One thread. Every byte is copied once, into the frame that is handed out; a declared length
 * allocates no more than what has come of it, twice at most. What a call leaves unfinished counts
 * in the {@link MessageRoom}.
 */
final class ZmtpReader {
    /** Told of what was read, in order. Whoever throws ends the connection. */
    interface Sink {
        /**
         * @param minor of the peer's version, whose major one is 3 or more
         */
        void greeted(int minor, String mechanism) throws ProtocolException;

        void command(byte[] body) throws ProtocolException;

        void message(List<byte[]> frames);
    }

    static final int GREETING = 64;
    static final int SIGNATURE = 10;
    static final int MECHANISM = 12;
    static final int MECHANISM_LENGTH = 20;

    static final int MORE = 1;
    static final int LONG = 2;
    static final int COMMAND = 4;

    /** Names and properties of a socket have some hundred bytes. */
    private static final int MAX_COMMAND = 64 << 10;

    private static final int MAX_FRAMES = 64;

    /** Allocated at once for a frame of which less has come. */
    private static final int FIRST_PIECE = 1024;

    private static final byte[] EMPTY = {};

    private final Sink sink;
    private final ZmtpLimits limits;
    private final byte[] head = new byte[GREETING];
    private int headHave;
    private int headNeed = SIGNATURE;
    private boolean greeted;
    private boolean inBody;
    private byte[] body = EMPTY;
    private int bodyHave;
    private int bodyLength;
    private long messageBytes;
    private List<byte[]> frames = new ArrayList<>(3);
    private long counted; // in the room
    private long handedOut;
    private boolean stopped;

    ZmtpReader(Sink sink, ZmtpLimits limits) {
        this.sink = sink;
        this.limits = limits;
    }

    /** What was read but not yet handed out goes nowhere; also from within a sink's method. */
    void stop() {
        stopped = true;
        inBody = false;
        body = EMPTY;
        frames = List.of();
        limits.room().free(counted);
        counted = 0;
    }

    /** A message, or a command, has begun and has not ended. */
    boolean unfinished() {
        return greeted && !stopped && (headHave > 0 || inBody || !frames.isEmpty());
    }

    /** Messages and commands so far. */
    long handedOut() {
        return handedOut;
    }

    /**
     * Takes all that is left in {@code in}.
     *
     * @throws ProtocolException when the peer speaks something else, or beyond the limits
     * @throws NoRoom when what is unfinished may not stay
     */
    void take(ByteBuffer in) throws IOException {
        while (in.hasRemaining() && !stopped) {
            if (inBody) {
                fill(in);
            } else {
                head[headHave++] = in.get();
                if (headHave == 1 && greeted) {
                    headNeed = (head[0] & LONG) != 0 ? 1 + Long.BYTES : 2;
                }
                if (headHave == headNeed) {
                    headRead(in.remaining());
                }
            }
        }
        count();
    }

    private void count() throws NoRoom {
        if (stopped) {
            return;
        }
        long holds = inBody ? messageBytes - bodyLength + body.length : messageBytes;
        if (holds < counted) {
            limits.room().free(counted - holds);
        } else if ((holds > counted || (holds > 0 && limits.room().full()))
                && !limits.room().take(holds - counted)) {
            throw new NoRoom("there is no memory for its unfinished message");
        }
        counted = holds;
    }

    private void headRead(int available) throws ProtocolException {
        if (!greeted) {
            greeting();
            return;
        }
        headHave = 0;
        if ((head[0] & ~(MORE | LONG | COMMAND)) != 0) {
            throw new ProtocolException(
                    "frame with unknown flags 0x" + Integer.toHexString(head[0] & 0xff));
        }
        long length =
                (head[0] & LONG) != 0
                        ? ByteBuffer.wrap(head, 1, Long.BYTES).getLong()
                        : head[1] & 0xff;
        if ((head[0] & COMMAND) != 0 && (length < 0 || length > MAX_COMMAND)) {
            throw new ProtocolException("command of more than " + MAX_COMMAND + " bytes");
        }
        if (length < 0 || length > limits.message() - messageBytes || frames.size() >= MAX_FRAMES) {
            throw new ProtocolException(
                    "message of more than "
                            + (limits.message() >> 20)
                            + " MiB or "
                            + MAX_FRAMES
                            + " frames");
        }
        messageBytes += length;
        bodyLength = (int) length;
        bodyHave = 0;
        if (bodyLength == 0) {
            body = EMPTY;
            frameRead();
        } else {
            body = new byte[Math.min(bodyLength, Math.max(FIRST_PIECE, available))];
            inBody = true;
        }
    }

    private void greeting() throws ProtocolException {
        if (headNeed == SIGNATURE) {
            if (head[0] != (byte) 0xff || (head[SIGNATURE - 1] & 1) == 0) {
                throw new ProtocolException("it does not speak ZeroMQ");
            }
            headNeed = SIGNATURE + 1;
        } else if (headNeed == SIGNATURE + 1) {
            if (head[SIGNATURE] < 3) {
                throw new ProtocolException(
                        "it speaks ZMTP "
                                + head[SIGNATURE]
                                + ", 3 is needed (libzmq 4.0 or newer)");
            }
            headNeed = GREETING;
        } else {
            greeted = true;
            headHave = 0;
            headNeed = 2;
            int end = MECHANISM;
            while (end < MECHANISM + MECHANISM_LENGTH && head[end] != 0) {
                end++;
            }
            sink.greeted(
                    head[SIGNATURE + 1],
                    new String(head, MECHANISM, end - MECHANISM, StandardCharsets.US_ASCII));
        }
    }

    private void fill(ByteBuffer in) throws ProtocolException {
        int n = Math.min(bodyLength - bodyHave, in.remaining());
        if (bodyHave + n > body.length) {
            body =
                    Arrays.copyOf(
                            body,
                            (int) Math.min(bodyLength, Math.max(2L * body.length, bodyHave + n)));
        }
        in.get(body, bodyHave, n);
        bodyHave += n;
        if (bodyHave == bodyLength) {
            inBody = false;
            frameRead();
        }
    }

    private void frameRead() throws ProtocolException {
        byte[] whole = body;
        body = EMPTY;
        if ((head[0] & COMMAND) != 0) {
            messageBytes -= whole.length;
            handedOut++;
            sink.command(whole);
            return;
        }
        frames.add(whole);
        if ((head[0] & MORE) == 0) {
            List<byte[]> message = frames;
            frames = new ArrayList<>(3);
            messageBytes = 0;
            handedOut++;
            sink.message(message);
        }
    }
}
