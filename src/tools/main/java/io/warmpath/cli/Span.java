package io.warmpath.cli;

/** A piece of a line. Its text is clean of control characters. */
record Span(String text, Tone tone) {
    Span {
        text = Words.clean(text);
    }

    static Span of(String text) {
        return new Span(text, Tone.PLAIN);
    }

    int length() {
        return text.codePointCount(0, text.length());
    }

    /** Its first columns; what is cut off shows as a full stop of one column. */
    Span cut(int columns) {
        return length() <= columns
                ? this
                : new Span(
                        text.substring(0, text.offsetByCodePoints(0, Math.max(0, columns - 1)))
                                + "…",
                        tone);
    }
}
