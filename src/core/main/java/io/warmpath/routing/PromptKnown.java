package io.warmpath.routing;

/** What the gateway knew of a prompt when it decided. */
public enum PromptKnown {
    /** Its tokens, made here or given by the client; or nothing at all. */
    TOKENS(""),
    /** Its tokens, as an engine makes them. */
    ASKED("engine"),
    /** Its text: depths and lengths are guesses from bytes, and predict nothing. */
    TEXT("text prefix");

    private final String word;

    PromptKnown(String word) {
        this.word = word;
    }

    /** As it is shown; empty where nothing is to be said. */
    public String word() {
        return word;
    }
}
