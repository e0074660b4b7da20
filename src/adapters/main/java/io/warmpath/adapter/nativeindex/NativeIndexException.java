package io.warmpath.adapter.nativeindex;

/** The native index could not be loaded, or refused a call for a reason no caller can mend. */
public final class NativeIndexException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NativeIndexException(String message) {
        super(message);
    }

    NativeIndexException(String message, Throwable cause) {
        super(message, cause);
    }
}
