package io.warmpath.fleet;

/** Says of ranks how far their KV events can be relied on now. Any thread, no waiting. */
@FunctionalInterface
public interface EventWatch {
    /** For a gateway that follows no events. */
    EventWatch OFF = rank -> EventView.OFF;

    EventView of(Candidate rank);
}
