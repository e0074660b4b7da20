package io.warmpath.capture;

/**
 * Why an engine reported another number of cached tokens than the index predicted when the request
 * began. Each has a rule over the recording in {@link Causes}; none looks at names of requests.
 */
public enum Cause {
    /** The engine says itself that the rest came from the shared pool, which sends no events. */
    POOL_HIT("pool hit (storage), which no event shows"),
    /** The request carries an extra_key, which SGLang leaves out of its events. */
    EXTRA_KEY("extra_key is not in the events"),
    /** A request with the same prefix was running: its blocks appeared while this one waited. */
    CONCURRENT("concurrent request of the same prefix"),
    /** What the engine had done before was published only after this request began. */
    EVENTS_PENDING("events not yet published when the request began"),
    /** No rule fits: either the write path is wrong or the recording shows something new. */
    UNEXPLAINED("unexplained");

    private final String text;

    Cause(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }
}
