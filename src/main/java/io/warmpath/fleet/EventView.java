package io.warmpath.fleet;

/** How far a rank's KV events can be relied on: what the index knows of its cache. */
public enum EventView {
    /** This gateway follows no events. */
    OFF("off"),
    /** The rank has no source that could be subscribed: it is known by its load alone. */
    NONE("none"),
    /** Nothing heard yet, or batches that were missed are asked for at this moment. */
    PENDING("pending"),
    /** All that the engine has said is in the index. */
    COMPLETE("complete"),
    /** Something is missing for good; what is known is right as far as it goes. */
    INCOMPLETE("incomplete");

    private final String word;

    EventView(String word) {
        this.word = word;
    }

    /** As explanations say it. */
    public String word() {
        return word;
    }
}
