package io.warmpath.fleet.monitor;

import io.warmpath.fleet.Worker;

/** What a worker does that shows that it lives: sends answers, or KV events. Any thread. */
@FunctionalInterface
public interface LifeSigns {
    /** For a monitor that knows health checks only. */
    LifeSigns NONE = (worker, otherwise) -> otherwise;

    /**
     * When it last showed one, by {@link System#nanoTime}.
     *
     * @param otherwise of a worker that has shown none since then
     */
    long last(Worker worker, long otherwise);
}
