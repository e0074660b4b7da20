package io.warmpath.api.extproc;

import java.nio.charset.StandardCharsets;

/**
 * The fields of one protobuf message, one after the other, without a copy of their bytes. Source:
 * Protocol Buffers, "Encoding". One thread.
 */
final class ProtoReader {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int DELIMITED = 2;
    private static final int FIXED32 = 5;

    private final byte[] b;
    private final int end;
    private int at;

    // Of the field that was read last.
    private int type;
    private long number;
    private int from;
    private int length;

    ProtoReader(byte[] b, int from, int length) {
        this.b = b;
        this.at = from;
        this.end = from + length;
    }

    /**
     * Goes on to the next field, whatever its type.
     *
     * @return its number; 0 at the end of the message
     * @throws WireFormatException the bytes are no field
     */
    int next() {
        if (at == end) {
            return 0;
        }
        long tag = varint();
        if (tag < 8 || tag > 0xffff_ffffL) {
            throw new WireFormatException("tag " + tag);
        }
        type = (int) tag & 7;
        switch (type) {
            case VARINT -> number = varint();
            case DELIMITED -> {
                long bytes = varint();
                if (bytes < 0 || bytes > end - at) {
                    throw new WireFormatException(
                            "a field of " + bytes + " bytes where " + (end - at) + " are left");
                }
                from = at;
                length = (int) bytes;
                at += length;
            }
            case FIXED64 -> skip(8);
            case FIXED32 -> skip(4);
            default -> throw new WireFormatException("wire type " + type);
        }
        return (int) (tag >>> 3);
    }

    /** Bytes that were not read yet. */
    int left() {
        return end - at;
    }

    private void skip(int bytes) {
        if (bytes > end - at) {
            throw new WireFormatException("the message ends within a field");
        }
        at += bytes;
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (at == end) {
                throw new WireFormatException("the message ends within a number");
            }
            byte next = b[at++];
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new WireFormatException("a number of more than 64 bits");
    }

    private void is(int wanted) {
        if (type != wanted) {
            throw new WireFormatException("wire type " + type + " in place of " + wanted);
        }
    }

    long number() {
        is(VARINT);
        return number;
    }

    boolean flag() {
        return number() != 0;
    }

    /** Where the field's bytes begin. */
    int from() {
        is(DELIMITED);
        return from;
    }

    int length() {
        is(DELIMITED);
        return length;
    }

    ProtoReader message() {
        is(DELIMITED);
        return new ProtoReader(b, from, length);
    }

    /** Each byte a character, as headers have them. */
    String latin1() {
        is(DELIMITED);
        return new String(b, from, length, StandardCharsets.ISO_8859_1);
    }

    String utf8() {
        is(DELIMITED);
        return new String(b, from, length, StandardCharsets.UTF_8);
    }
}
