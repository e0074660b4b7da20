package io.warmpath.api.extproc;

/** Bytes that are no message of the protocol; the message says why. */
public class WireFormatException extends RuntimeException {
    public WireFormatException(String message) {
        super(message, null, false, false); // the other side's mistake: no trace
    }
}
