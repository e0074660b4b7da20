package io.warmpath.fleet.probe;

import java.io.IOException;

/** A worker could not be asked, for a reason that lies with the gateway alone. */
public final class NotAskedException extends IOException {
    private static final long serialVersionUID = 1;

    /** {@code message}: for the operator. */
    public NotAskedException(String message, Throwable cause) {
        super(message, cause);
    }
}
