package io.warmpath.tokens.model;

import org.jspecify.annotations.Nullable;

/** A tokenizer cannot be used; the message names the file and what to do. */
public final class TokenizerLoadException extends Exception {
    private static final long serialVersionUID = 1L;

    public TokenizerLoadException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
