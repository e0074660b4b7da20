package io.warmpath.api.extproc;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes one protobuf message from its end to its beginning, so that the length of an inner message
 * is known when it has to be written. The field that is to come first is written last. One thread.
 */
final class ProtoWriter {
    private static final int VARINT = 0;
    private static final int DELIMITED = 2;

    /** A tag and a length, at most. */
    private static final int HEAD = 20;

    private byte[] b;
    private int at;

    /** {@code expected}: bytes of the whole message. */
    ProtoWriter(int expected) {
        b = new byte[expected];
        at = expected;
    }

    private void room(int bytes) {
        if (bytes > at) {
            int used = b.length - at;
            byte[] larger = new byte[Math.max(2 * b.length, used + bytes)];
            System.arraycopy(b, at, larger, larger.length - used, used);
            at = larger.length - used;
            b = larger;
        }
    }

    /** How much has been written; to be given to {@link #message}. */
    int mark() {
        return b.length - at;
    }

    /** What has been written since {@code mark} is the value of this field. */
    void message(int field, int mark) {
        head(field, mark() - mark);
    }

    private void head(int field, int length) {
        room(HEAD);
        varint(length);
        varint(((long) field << 3) | DELIMITED);
    }

    void bytes(int field, byte[] value, int from, int length) {
        room(length);
        at -= length;
        System.arraycopy(value, from, b, at, length);
        head(field, length);
    }

    /** Each character a byte, as headers have them. */
    void latin1(int field, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
        bytes(field, bytes, 0, bytes.length);
    }

    void utf8(int field, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        bytes(field, bytes, 0, bytes.length);
    }

    /** {@code value}: from 0. */
    void number(int field, int value) {
        room(HEAD);
        varint(value);
        varint(((long) field << 3) | VARINT);
    }

    private void varint(long value) {
        int groups = 1;
        for (long rest = value >>> 7; rest != 0; rest >>>= 7) {
            groups++;
        }
        at -= groups;
        for (int i = 0; i < groups; i++) {
            int more = i + 1 < groups ? 0x80 : 0;
            b[at + i] = (byte) (((value >>> (7 * i)) & 0x7f) | more);
        }
    }

    /** The message as one gRPC frame. */
    byte[] frame() {
        int length = mark();
        room(GrpcFrames.HEAD);
        at -= GrpcFrames.HEAD;
        b[at] = 0; // not compressed
        for (int i = 0; i < 4; i++) {
            b[at + 1 + i] = (byte) (length >>> (8 * (3 - i)));
        }
        return at == 0 ? b : Arrays.copyOfRange(b, at, b.length);
    }
}
