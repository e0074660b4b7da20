package io.warmpath.sim.half;

import io.warmpath.sim.engine.RankScheduler;
import io.warmpath.sim.engine.Sequence;
import org.jspecify.annotations.Nullable;

/** One half of a request. Its sequence is made with what it gives. Engine's thread only. */
public interface HalfRequest {
    Sequence.Listener listener();

    /** See {@link Sequence}. */
    @Nullable Runnable reserved();

    void submit(RankScheduler scheduler, Sequence sequence);

    /** Its client has left; its sequence is aborted by who made it. */
    void gone();
}
