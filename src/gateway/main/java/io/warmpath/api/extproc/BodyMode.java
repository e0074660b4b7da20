package io.warmpath.api.extproc;

/** How a proxy sends bodies; the order is the protocol's ({@code ProcessingMode.BodySendMode}). */
public enum BodyMode {
    NONE,
    STREAMED,
    BUFFERED,
    BUFFERED_PARTIAL,
    FULL_DUPLEX_STREAMED,
    GRPC;

    private static final BodyMode[] ALL = values();

    /** Of a number that this version does not know: as if no body came. */
    static BodyMode of(long number) {
        return number >= 0 && number < ALL.length ? ALL[(int) number] : NONE;
    }

    /** Chunks come unasked, and go back as pieces. */
    public boolean isDuplex() {
        return this == FULL_DUPLEX_STREAMED || this == GRPC;
    }

    /** The whole body comes before anything has to be decided. */
    public boolean isWhole() {
        return this == FULL_DUPLEX_STREAMED || this == BUFFERED;
    }
}
