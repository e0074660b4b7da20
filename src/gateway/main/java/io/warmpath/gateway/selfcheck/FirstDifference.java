package io.warmpath.gateway.selfcheck;

import java.util.Arrays;

/** Where two lists of ids part. {@code token}: its place, from 0. */
record FirstDifference(int token, int[] here, int[] there) {
    private static final int SHOWN = 8;

    /** They are not equal. */
    static FirstDifference of(int[] here, int[] there) {
        return new FirstDifference(Arrays.mismatch(here, there), here, there);
    }

    /** {@code blockSize}: tokens per block; 0 when not known. */
    String inBlocks(int blockSize) {
        String block = blockSize > 0 ? "in block " + token / blockSize + ", " : "";
        return "they part %sat token %s: here %s, there %s"
                .formatted(block, token, shown(here), shown(there));
    }

    private String shown(int[] ids) {
        int end = Math.min(ids.length, token + SHOWN);
        String some = Arrays.toString(Arrays.copyOfRange(ids, Math.min(token, end), end));
        return end == ids.length ? some + " and the end" : some + " and so on";
    }
}
