package io.warmpath.fault;

/**
 * Carries a {@link GatewayError} through code that can only throw. No stack trace: it is not a bug.
 */
public final class GatewayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient GatewayError error;

    public GatewayException(GatewayError error) {
        super(error.message(), null, false, false);
        this.error = error;
    }

    public GatewayError error() {
        return error;
    }
}
