package io.warmpath.tokens;

/** The text has a surrogate without its partner; no engine gives such a text token ids. */
public final class UnencodableTextException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UnencodableTextException(int charIndex) {
        super("the text has an unpaired surrogate at character " + charIndex);
    }
}
