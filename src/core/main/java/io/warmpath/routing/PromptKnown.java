package io.warmpath.routing;

/** What the gateway knew of a prompt when it decided. */
public enum PromptKnown {
    /** Its tokens, made here or given by the client; or nothing at all. */
    TOKENS(""),
    /** Its tokens, as an engine makes them. */
    ASKED("engine"),
    /** Its text: depths and lengths are guesses from bytes, and predict nothing. */
    TEXT("text prefix"),
    /** The length of its request alone, from which its tokens are guessed. */
    LENGTH("length");

    private final String word;

    PromptKnown(String word) {
        this.word = word;
    }

    /** Lengths are guesses. */
    public boolean isGuess() {
        return this == TEXT || this == LENGTH;
    }

    /** As it is shown; empty where nothing is to be said. */
    public String word() {
        return word;
    }
}
