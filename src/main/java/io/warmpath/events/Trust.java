package io.warmpath.events;

/** How much the view of one source can be relied on. */
public enum Trust {
    /** Everything the engine has said is in the index. */
    COMPLETE,
    /** Nothing heard yet, or a hole was found and its batches have been asked for. */
    PENDING,
    /** Something is missing for good; what is known is still right as far as it goes. */
    INCOMPLETE
}
