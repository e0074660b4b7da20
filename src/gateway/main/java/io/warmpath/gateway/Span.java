package io.warmpath.gateway;

/**
 * Bytes of a body.
 *
 * @param start the first one
 * @param end just behind the last one
 */
public record Span(int start, int end) {
    /** There is no such thing in the body. */
    public static final Span ABSENT = new Span(-1, -1);

    public boolean present() {
        return start >= 0;
    }
}
