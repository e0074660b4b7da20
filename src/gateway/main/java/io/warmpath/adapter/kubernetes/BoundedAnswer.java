package io.warmpath.adapter.kubernetes;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A list, or a watch, of which one part may have so many bytes. One thread reads, any closes. */
final class BoundedAnswer extends FilterInputStream {
    /** A page has 500 objects, of some 10 KiB. */
    static final int MOST_BYTES = 64 << 20;

    private long left = MOST_BYTES;

    BoundedAnswer(InputStream in) {
        super(in);
    }

    /** Another part begins, such as the next event of a watch. */
    void next() {
        left = MOST_BYTES;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] b, int from, int length) throws IOException {
        int n = in.read(b, from, length);
        left -= Math.max(0, n);
        if (left < 0) {
            throw new IOException("the API server sends more than " + MOST_BYTES + " bytes");
        }
        return n;
    }
}
