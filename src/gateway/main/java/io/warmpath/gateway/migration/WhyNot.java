package io.warmpath.gateway.migration;

/** Why a stream that broke was not gone on with elsewhere. The client got an error event. */
public enum WhyNot {
    /** It has been moved as often as it may be. */
    LIMIT,
    /** The client named the worker. */
    PINNED,
    /** Not an event stream, or of an API that is passed on unread. */
    NOT_A_STREAM,
    /** Token ids in and out: its frames are made below the place where streams are joined. */
    TOKEN_FORM,
    /** The worker, or every other one, is neither SGLang nor vLLM. */
    ENGINE_KIND,
    /** No other worker is there. */
    NO_WORKER,
    /** Request and answer together are larger than may be kept, or all such together are. */
    TOO_LARGE,
    /** A part of an event has reached the client already. */
    INSIDE_EVENT,
    /** The client takes nothing. */
    CLIENT_SLOW,
    /** Tool calls have begun, or must come. */
    TOOL_CALLS,
    /** Reasoning that the engine tells apart from the answer has begun. */
    REASONING,
    /** Log probabilities were asked for. */
    LOGPROBS,
    /** More than one answer: {@code n}, {@code best_of}, beams. */
    SEVERAL,
    /** The prompt is to be repeated in the answer. */
    ECHO,
    /** A grammar, a schema or a list of choices that the answer has to follow as a whole. */
    STRUCTURED,
    /** The engine keeps state for the request. */
    SESSION,
    /** A prompt that text cannot be added to: token ids, several prompts, an answer begun. */
    PROMPT,
    /** The text ends with what may be the beginning of a stop text. */
    STOP,
    /** vLLM's template would make another text of what has been said. */
    TEMPLATE,
    /**
     * The text begins or ends with white space, and vLLM's template, which may trim it, is not
     * known.
     */
    WHITE_SPACE,
    /** All was said but for the usage report, and the prompt's length is not known here. */
    FINISHED
}
