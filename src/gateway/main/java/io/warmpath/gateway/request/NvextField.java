package io.warmpath.gateway.request;

/** What a client may ask for beside the answer ({@code nvext}). */
public enum NvextField {
    /** In the answer's {@code nvext}: who has answered. */
    WORKER_ID,
    /** In the answer's {@code nvext}: how long it took. */
    TIMING,
    /** In the answer's {@code nvext}: the prompt's token ids. */
    TOKEN_IDS,
    /** As an event of its own: who answers. */
    WORKER_ID_EVENT,
    /** As an event of its own: the prompt as the template has rendered it. */
    FORMATTED_PROMPT_EVENT,
    /** As an event of its own: the prompt's token ids. */
    TOKEN_IDS_EVENT,
    /** As an event of its own: how many tokens went in, were cached, and came out. */
    LLM_METRICS_EVENT,
    /** Nothing is to be run: who would answer, and the prompt's token ids. */
    QUERY_ONLY
}
