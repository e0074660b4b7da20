package io.warmpath.gateway.request;

/**
 * What a request asks for that only a worker that does all of it gives, and that makes what an
 * engine reports as cached another number than was predicted (src/docs/disaggregation.md).
 */
public enum Undivided {
    /** Nothing of the kind. */
    NONE("model", "", "This request needs", "add a worker without a role"),

    /** {@code n}: the second answer finds cached what the first one has just computed. */
    SEVERAL(
            "n",
            "several answers",
            "Several answers to one prompt need",
            "send one request per answer"),

    /** Engines compute all of such a prompt, whatever is cached of it. */
    PROMPT_LOGPROBS(
            "logprobs",
            "log probabilities of the prompt",
            "Log probabilities of the prompt need",
            "add a worker without a role");

    private final String member;
    private final String words;
    private final String need;
    private final String instead;

    Undivided(String member, String words, String need, String instead) {
        this.member = member;
        this.words = words;
        this.need = need;
        this.instead = instead;
    }

    /** Of the request's body; what is wrong where no worker does whole requests. */
    public String member() {
        return member;
    }

    /** For {@code x-warmpath-not-predicted}; not of {@link #NONE}. */
    public String words() {
        return words;
    }

    /** What is said where all workers of a model have roles. */
    public String refusal(String model) {
        return need
                + " a worker that does whole requests, and those of the model `"
                + model
                + "` have the roles prefill and decode only; "
                + instead
                + ".";
    }
}
