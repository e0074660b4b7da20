package io.warmpath.pool;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Canonical CBOR, as far as engines hash it. */
final class Cbor {
    static final int NUMBER = 0;
    static final int BYTES = 0x40;
    static final int TEXT = 0x60;
    static final int ARRAY = 0x80;
    static final int NULL = 0xf6;

    private Cbor() {}

    /**
     * The shortest form of a kind and a number.
     *
     * @param value unsigned
     */
    static void head(ByteArrayOutputStream out, int kind, long value) {
        if (value >= 0 && value < 24) {
            out.write(kind | (int) value);
            return;
        }
        int power = value >>> 32 != 0 ? 3 : value >= 1 << 16 ? 2 : value >= 1 << 8 ? 1 : 0;
        out.write(kind | (24 + power));
        for (int shift = 8 * ((1 << power) - 1); shift >= 0; shift -= 8) {
            out.write((int) (value >>> shift));
        }
    }

    /** An array of ids, u32 in an int. */
    static void ids(ByteArrayOutputStream out, int[] ids, int from, int length) {
        head(out, ARRAY, length);
        for (int i = from; i < from + length; i++) {
            head(out, NUMBER, Integer.toUnsignedLong(ids[i]));
        }
    }

    /** A text of its own. */
    static byte[] text(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream out = new ByteArrayOutputStream(utf8.length + 5);
        head(out, TEXT, utf8.length);
        out.writeBytes(utf8);
        return out.toByteArray();
    }
}
