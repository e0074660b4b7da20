package io.warmpath.events;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes the batches of one source in their order, each once. One thread. */
public interface BatchSink {
    /**
     * @return true when the batch cleared all that its source had told
     * @throws MalformedBatchException when its bytes make no sense; it counts as taken
     */
    boolean take(long sequence, byte[] payload) throws MalformedBatchException;

    /**
     * Nothing taken so far may be relied on any more.
     *
     * @param restarted another process of the engine counts anew; else batches are missing
     */
    void forget(boolean restarted);

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
