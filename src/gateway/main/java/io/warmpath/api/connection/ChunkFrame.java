package io.warmpath.api.connection;

import io.netty.buffer.ByteBuf;

/** One chunk of a body in chunked transfer coding (RFC 9112 section 7.1). */
final class ChunkFrame {
    /** Most that is around a chunk's bytes: a size of 8 digits, twice CRLF. */
    static final int BYTES = 12;

    private static final int CRLF = '\r' << 8 | '\n';
    private static final int HEX_DIGITS = 8;

    private ChunkFrame() {}

    /**
     * @param length from 1 on
     * @param framed false: the bytes alone, of a body whose head gives its length
     */
    static void write(ByteBuf out, byte[] b, int from, int length, boolean framed) {
        if (framed) {
            int digits = HEX_DIGITS - Integer.numberOfLeadingZeros(length) / 4;
            for (int i = digits - 1; i >= 0; i--) {
                out.writeByte(Character.forDigit((length >>> (4 * i)) & 0xf, 16));
            }
            out.writeShort(CRLF);
        }
        out.writeBytes(b, from, length);
        if (framed) {
            out.writeShort(CRLF);
        }
    }
}
