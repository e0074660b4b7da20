package io.warmpath.adapter.nats;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a relay sends: some batches of one engine, as the engine wrote them, with what tells their
 * place. The subject says whose they are. Big-endian:
 *
 * <pre>
 *  0  2  'W' 'E'
 *  2  1  version, 1
 *  3  1  kind
 *  4  8  process of the engine, as its relay numbers them; another process has another one
 * 12  8  sequence number of the first batch; the others follow without a hole
 * 20  8  fingerprint of the batch before the first; 0: not known, or not said
 * 28  8  when the relay got the first, ms since 1970
 * 36  4  count: see {@link Kind}
 * 40     batches, each 4 bytes length and the bytes; PART: bytes
 * </pre>
 *
 * <p>Immutable; the byte arrays are not copied.
 */
record Envelope(
        Kind kind,
        long process,
        long first,
        long before,
        long millis,
        int count,
        List<byte[]> batches) {

    static final int HEADER = 40;
    private static final int VERSION = 1;

    /** What an envelope is. */
    enum Kind {
        /** Batches; the count is theirs. */
        BATCHES(0),
        /** A piece of one batch; count: number of the piece, from 0, and of all (16 bits each). */
        PART(1),
        /**
         * Sign of life: {@code first} comes next in the stream. Bits of the count: 1, the engine is
         * there; 2, the server takes no events.
         */
        ALIVE(2),
        /** The end of an answer; count: messages before it. */
        END(3);

        /** On the wire. */
        final byte code;

        Kind(int code) {
            this.code = (byte) code;
        }

        static @Nullable Kind of(byte code) {
            for (Kind k : values()) {
                if (k.code == code) {
                    return k;
                }
            }
            return null;
        }
    }

    /** Not an envelope of a version that is known. */
    static final class BadEnvelope extends Exception {
        private static final long serialVersionUID = 1;

        BadEnvelope(String message) {
            super(message);
        }
    }

    static Envelope batches(
            long process, long first, long before, long millis, List<byte[]> batches) {
        return new Envelope(Kind.BATCHES, process, first, before, millis, batches.size(), batches);
    }

    static Envelope alive(long process, long next, long last, boolean engine, boolean stuck) {
        int bits = (engine ? 1 : 0) | (stuck ? 2 : 0);
        return new Envelope(Kind.ALIVE, process, next, last, 0, bits, List.of());
    }

    static Envelope end(long process, int messages) {
        return new Envelope(Kind.END, process, 0, 0, 0, messages, List.of());
    }

    /** Number of the batch after the last. */
    long next() {
        return first + count;
    }

    boolean engine() {
        return (count & 1) != 0;
    }

    boolean stuck() {
        return (count & 2) != 0;
    }

    int part() {
        return count >>> 16;
    }

    int parts() {
        return count & 0xffff;
    }

    byte[] encoded() {
        int size = HEADER;
        for (byte[] b : batches) {
            size += (kind == Kind.BATCHES ? Integer.BYTES : 0) + b.length;
        }
        ByteBuffer out = ByteBuffer.allocate(size);
        out.put((byte) 'W').put((byte) 'E').put((byte) VERSION).put(kind.code);
        out.putLong(process).putLong(first).putLong(before).putLong(millis).putInt(count);
        for (byte[] b : batches) {
            if (kind == Kind.BATCHES) {
                out.putInt(b.length);
            }
            out.put(b);
        }
        return out.array();
    }

    /** One batch that no message can hold, in pieces. {@code most}: bytes of a piece. */
    static List<Envelope> parts(
            long process, long sequence, long before, long millis, byte[] batch, int most) {
        int parts = Math.ceilDiv(batch.length, most);
        List<Envelope> out = new ArrayList<>(parts);
        for (int i = 0; i < parts; i++) {
            int from = i * most;
            byte[] piece = new byte[Math.min(most, batch.length - from)];
            System.arraycopy(batch, from, piece, 0, piece.length);
            out.add(
                    new Envelope(
                            Kind.PART,
                            process,
                            sequence,
                            before,
                            millis,
                            (i << 16) | parts,
                            List.of(piece)));
        }
        return out;
    }

    static Envelope decode(byte[] data) throws BadEnvelope {
        if (data.length < HEADER || data[0] != 'W' || data[1] != 'E') {
            throw new BadEnvelope("not an envelope of a relay");
        }
        Kind kind = Kind.of(data[3]);
        if (data[2] != VERSION || kind == null) {
            throw new BadEnvelope("an envelope of version " + data[2] + ", kind " + data[3]);
        }
        ByteBuffer in = ByteBuffer.wrap(data, 4, data.length - 4);
        long process = in.getLong();
        long first = in.getLong();
        long before = in.getLong();
        long millis = in.getLong();
        int count = in.getInt();
        List<byte[]> batches =
                switch (kind) {
                    case BATCHES -> batches(in, count);
                    case PART -> List.of(rest(in));
                    case ALIVE, END -> List.of();
                };
        Envelope e = new Envelope(kind, process, first, before, millis, count, batches);
        if (kind == Kind.PART && e.part() >= e.parts()) {
            throw new BadEnvelope("piece " + e.part() + " of " + e.parts());
        }
        return e;
    }

    private static List<byte[]> batches(ByteBuffer in, int count) throws BadEnvelope {
        // A length never allocates more than the bytes that are there.
        if (count < 1 || count > in.remaining() / Integer.BYTES) {
            throw new BadEnvelope(count + " batches in " + in.remaining() + " bytes");
        }
        List<byte[]> out = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int length = in.remaining() < Integer.BYTES ? -1 : in.getInt();
            if (length < 0 || length > in.remaining()) {
                throw new BadEnvelope("batch " + i + " of " + count + " is cut");
            }
            byte[] batch = new byte[length];
            in.get(batch);
            out.add(batch);
        }
        if (in.hasRemaining()) {
            throw new BadEnvelope(in.remaining() + " bytes behind the last batch");
        }
        return out;
    }

    private static byte[] rest(ByteBuffer in) {
        byte[] out = new byte[in.remaining()];
        in.get(out);
        return out;
    }
}
