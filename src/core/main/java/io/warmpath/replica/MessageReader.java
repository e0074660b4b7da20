package io.warmpath.replica;

import io.warmpath.load.PromptBlocks;
import io.warmpath.session.SessionName;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Reads one message. Whatever is in it: either it is read or {@link Malformed} is thrown, before
 * more is allocated than the message is long.
 */
final class MessageReader {
    /** The message does not follow the tables. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String message) {
            super(message);
        }
    }

    /** Told of the changes of a message, in their order. */
    interface Changes {
        void add(Heard booking) throws Malformed;

        void prefilled(long number);

        void free(long number);

        void grown(long number, int outputTokens, int weight);
    }

    /** Told of the sessions of a message, in their order. */
    interface Sessions {
        /**
         * @param what {@link Wire#SESSION_BOUND} to {@link Wire#SESSION_CLOSED}
         * @param worker its id; of an open session its opening and its time
         * @param dpRank of an open session: whether it stays only
         */
        void session(byte what, SessionName session, long worker, int dpRank);
    }

    /** More tokens no request has; sums of two such counts are still ints. */
    private static final int MOST = 1 << 30;

    private final ByteBuffer in;

    MessageReader(byte[] message) {
        in = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Whether it begins as messages of any version do. */
    boolean isOurs() {
        return in.limit() >= Wire.AT_KIND && in.get(0) == Wire.MAGIC_0 && in.get(1) == Wire.MAGIC_1;
    }

    byte version() {
        return in.get(Wire.AT_VERSION);
    }

    boolean hasHeader() {
        return in.limit() >= Wire.HEADER;
    }

    byte kind() {
        return in.get(Wire.AT_KIND);
    }

    long router() {
        return in.getLong(Wire.AT_ROUTER);
    }

    long epoch() {
        return in.getLong(Wire.AT_EPOCH);
    }

    long sequence() {
        return in.getLong(Wire.AT_SEQUENCE);
    }

    void changes(Changes to) throws Malformed {
        in.position(Wire.HEADER);
        read(to);
    }

    /** {@link Wire#FLAG_FIRST}, {@link Wire#FLAG_LAST}. */
    int stateFlags() throws Malformed {
        if (in.limit() <= Wire.HEADER) {
            throw new Malformed("a state without flags");
        }
        return in.get(Wire.HEADER);
    }

    void state(Changes to) throws Malformed {
        in.position(Wire.HEADER + 1);
        read(to);
    }

    /**
     * @param name what the sender calls itself
     * @param heard the last message of the asking gateway that the sender has heard; 0: none
     */
    record Heartbeat(int open, long digest, String name, long heard) {}

    /** {@code router}: whose number among those heard is wanted. */
    Heartbeat heartbeat(long router, long epoch) throws Malformed {
        try {
            in.position(Wire.HEADER);
            int open = in.getInt();
            long digest = in.getLong();
            int length = in.get() & 0xff;
            byte[] name = new byte[Math.min(length, in.remaining())];
            in.get(name);
            long heard = 0;
            while (in.hasRemaining()) {
                long whose = in.getLong();
                long when = in.getLong();
                long number = in.getLong();
                heard = whose == router && when == epoch ? number : heard;
            }
            return new Heartbeat(open, digest, new String(name, StandardCharsets.UTF_8), heard);
        } catch (BufferUnderflowException e) {
            throw new Malformed("a heartbeat of " + in.limit() + " bytes");
        }
    }

    /** {@code router}: whose state is wanted. */
    record Ask(long router, long epoch) {}

    Ask ask() throws Malformed {
        try {
            in.position(Wire.HEADER);
            return new Ask(in.getLong(), in.getLong());
        } catch (BufferUnderflowException e) {
            throw new Malformed("a question of " + in.limit() + " bytes");
        }
    }

    void sessions(Sessions to) throws Malformed {
        if ((in.limit() - Wire.HEADER) % Wire.SESSION_BYTES != 0) {
            throw new Malformed("sessions in " + in.limit() + " bytes");
        }
        in.position(Wire.HEADER);
        while (in.hasRemaining()) {
            byte what = in.get();
            if (what < Wire.SESSION_BOUND || what > Wire.SESSION_CLOSED) {
                throw new Malformed("a session of kind " + what);
            }
            int dpRank = in.getShort() & 0xffff;
            SessionName session = new SessionName(in.getLong(), in.getLong());
            to.session(what, session, in.getLong(), dpRank);
        }
    }

    private void read(Changes to) throws Malformed {
        try {
            while (in.hasRemaining()) {
                byte op = in.get();
                switch (op) {
                    case Wire.ADD -> to.add(add());
                    case Wire.PREFILLED -> to.prefilled(in.getLong());
                    case Wire.FREE -> to.free(in.getLong());
                    case Wire.GROWN -> {
                        long number = in.getLong();
                        to.grown(number, count(in.getInt()), weight(in.getInt()));
                    }
                    default -> throw new Malformed("a change of kind " + op);
                }
            }
        } catch (BufferUnderflowException e) {
            throw new Malformed("a change is cut short at byte " + in.limit());
        }
    }

    private Heard add() throws Malformed {
        int flags = in.get();
        int dpRank = in.getShort() & 0xffff;
        int incarnation = in.getInt();
        long number = in.getLong();
        long worker = in.getLong();
        int prefillTokens = count(in.getInt());
        int tokens = count(in.getInt());
        int blockSize = in.getInt();
        int expectedOutput = count(in.getInt());
        int outputTokens = count(in.getInt());
        int weight = weight(in.getInt());
        int names = in.getInt();
        if (blockSize < 1
                || blockSize > MOST
                || names < 0
                || names > Wire.MAX_NAMES
                || names > in.remaining() / Long.BYTES
                || names > tokens / blockSize) {
            throw new Malformed(
                    names + " names for " + tokens + " tokens in blocks of " + blockSize);
        }
        long[] chain = new long[names];
        in.asLongBuffer().get(chain);
        in.position(in.position() + names * Long.BYTES);
        Heard heard =
                new Heard(
                        number,
                        new PeerRank(worker, dpRank),
                        incarnation,
                        prefillTokens,
                        new PromptBlocks(blockSize, tokens, chain, (flags & Wire.FLAG_SHARED) != 0),
                        expectedOutput);
        heard.prefilled = (flags & Wire.FLAG_PREFILLED) != 0;
        heard.outputTokens = outputTokens;
        heard.weight = weight;
        return heard;
    }

    private static int count(int value) throws Malformed {
        if (value < 0 || value > MOST) {
            throw new Malformed("a count of " + value);
        }
        return value;
    }

    private static int weight(int value) throws Malformed {
        if (value < 0 || value > Heard.WHOLE) {
            throw new Malformed("a weight of " + value);
        }
        return value;
    }
}
