package io.warmpath.routing;

import java.util.Locale;

/**
 * Why an engine may report another number of cached tokens than was predicted, or why none was
 * predicted: set by whoever learns it, the first one that holds. A row of
 * src/docs/reference/engines.md each.
 */
public enum NotExact {
    OTHER_API("an API whose prompts are not read", "scores, images, speech: load alone decides"),
    PROMPT_HIDDEN("a member hides the prompt's tokens", "such as suffix, prompt_embeds"),
    EXTRA_KEY("extra_key", "SGLang's events do not show the key"),
    LOAD_ALONE("load alone decides", "the mode or the settings look at no cache"),
    TOKENS_UNKNOWN("nobody knows the prompt's tokens", "no tokenizer or no template for it"),
    TOKENS_FAILED("tokenising failed", "a bug or too little memory; the log has it"),
    TOKENS_LATE("tokens came too late", "the tokenising threads are full, or took too long"),
    TEXT_PREFIX("text prefix", "known by its text alone: depths are guesses"),
    DRIFTED("the engine makes other tokens", "the self-check found it; load decides"),
    BLOCK_SIZE("the worker's block size is not known", "it has told none, or one that is unusable"),
    NO_MATCH("the index gave no answer", "it failed, or has the prompt in other blocks"),
    PROMPT_LOGPROBS("log probabilities of the prompt", "engines compute all of such a prompt"),
    SEVERAL_ANSWERS("several answers", "which answer's count is reported is not known"),
    SEVERAL_PROMPTS("several prompts", "which prompt's count is reported is not known"),
    /** Prompts of one request that run at the same time. */
    SHARED_PROMPTS("prompts with a common beginning", "one may find what another has computed"),
    SESSION("what the engine's session holds", "its blocks lie outside of what events tell"),
    PARTLY_TOLD(
            "windows or states that events do not show",
            "of SGLang: a prefix is usable up to where they still are"),
    MEDIUM("a medium in the prompt", "predicted up to the first of them", Worth.LEAST),
    PART_BLOCKS(
            "the engine reuses parts of blocks",
            "TensorRT-LLM: a block that the prompt shares in part counts as well",
            Worth.LEAST),
    DRAFTS(
            "the engine guesses tokens ahead",
            "vLLM does not say how; with EAGLE or MTP it reports one block less",
            Worth.GUESS),
    NO_EVENTS(
            "the worker sends no events", "predicted from what was sent to it alone", Worth.GUESS),
    EVENTS_BEHIND(
            "the worker's events are behind", "connecting, lagging, repairing, gap", Worth.GUESS),
    MOVED("the answer moved to another worker", "its second prompt has the answer's beginning"),
    NOT_REPORTED("the engine does not say", "no count in its answer: nothing to compare with");

    /** What a prediction is good for. */
    private enum Worth {
        NOTHING,
        /** Of a beginning of the prompt: at least so much. */
        LEAST,
        /** Held against what is reported. */
        GUESS
    }

    private final String words;
    private final String more;
    private final Worth worth;

    NotExact(String words, String more) {
        this(words, more, Worth.NOTHING);
    }

    NotExact(String words, String more, Worth worth) {
        this.words = words;
        this.more = more;
        this.worth = worth;
    }

    /** As clients and operators read it, ASCII. */
    public String words() {
        return words;
    }

    /** As metrics and JSON name it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** For the documentation, beside {@link #words}. */
    public String more() {
        return more;
    }

    /** There is a prediction nevertheless. */
    public boolean predicts() {
        return worth != Worth.NOTHING;
    }

    /** What is predicted can be held against what the engine reports. */
    public boolean compares() {
        return worth == Worth.GUESS;
    }
}
