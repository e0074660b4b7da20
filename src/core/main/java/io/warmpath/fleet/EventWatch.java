package io.warmpath.fleet;

/** Says of ranks how far their KV events can be relied on now. Any thread, no waiting. */
@FunctionalInterface
public interface EventWatch {
    /** For a gateway that follows no events. */
    EventWatch OFF = rank -> EventTrust.OFF;

    EventTrust of(Candidate rank);

    /** Where its events stand; for every request. */
    default EventView view(Candidate rank) {
        return of(rank).view();
    }

    /**
     * The rank has answered a request whose prompt had whole blocks that it cannot have held: its
     * engine owes an event about them. Who hears none for long enough stops believing the source.
     *
     * @param began when the request was sent, by {@link System#nanoTime}
     */
    default void computed(Candidate rank, long began) {}

    /** Hears what an engine says that it has stored for one request. */
    interface Stored {
        /**
         * @param parent name of the block before these; meaningless at the start of a prompt
         * @param last name of the last of these
         * @param tokens theirs; not to be changed
         * @return true: that was enough
         */
        boolean more(long parent, long last, int[] tokens, int blockSize);
    }

    /**
     * @param tag that the request is sent with, and no other one
     */
    default void listen(String tag, Stored listener) {}
}
