package io.warmpath.gateway.request;

/** Bytes of a body. {@code start}: the first one. {@code end}: just behind the last one. */
public record ByteRange(int start, int end) {
    /** There is no such thing in the body. */
    public static final ByteRange ABSENT = new ByteRange(-1, -1);

    public boolean present() {
        return start >= 0;
    }
}
