package io.warmpath.tokens.text;

/** The text has a surrogate without its partner; no engine gives such a text token ids. */
public final class UnencodableTextException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UnencodableTextException(int charIndex) {
        super("the text has an unpaired surrogate at character " + charIndex);
    }

    /** Made into UTF-8 by the JDK such a surrogate would become a question mark, silently. */
    public static void throwIfIllFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                int codePoint = text.codePointAt(i);
                if (Character.charCount(codePoint) == 1) {
                    throw new UnencodableTextException(i);
                }
                i++;
            }
        }
    }
}
