package io.warmpath.adapter.tokenizer;

/** A tokenizer.json has something that only the general library knows; the message says what. */
final class NotUnderstoodException extends Exception {
    private static final long serialVersionUID = 1L;

    NotUnderstoodException(String what) {
        super(what);
    }
}
