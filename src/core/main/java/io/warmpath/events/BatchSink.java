package io.warmpath.events;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes the batches of one source in their order, each once. One thread. */
public interface BatchSink {
    /** What a batch has made of the view. */
    enum Effect {
        /** No more than its own events. */
        APPLIED,
        /** All that its source had told before is cleared. */
        CLEARED,
        /** Some of its events could not be read. */
        PARTLY
    }

    /**
     * @throws MalformedBatchException when its bytes make no sense; it counts as taken
     */
    Effect take(long sequence, byte[] payload) throws MalformedBatchException;

    /**
     * Nothing taken so far may be relied on any more.
     *
     * @param restarted another process of the engine counts anew; else batches are missing
     */
    void forget(boolean restarted);

    /** Whether the batches are those of a publisher that counts them from 1. */
    default boolean countsFromOne() {
        return false;
    }

    /** What comes goes on where the batches before ended, and may be another process's. */
    default void unproven() {}

    /** In what the batches do not fit what is known of the worker; null when they do. */
    default @Nullable String misfit() {
        return null;
    }

    /** What is to be remembered over a restart of ours. */
    default List<SourceMark.SlotMemory> memories() {
        return List.of();
    }

    /** Takes up what an earlier process of ours remembered. */
    default void restore(List<SourceMark.SlotMemory> memories) {}
}
