package io.warmpath.api.extproc;

/** The headers of a message, or what is told beside them, are longer than is taken. */
public final class HeadTooLargeException extends WireFormatException {
    HeadTooLargeException(int bytes, int most) {
        super("headers of " + bytes + " bytes; " + most + " are the most");
    }
}
