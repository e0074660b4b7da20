package io.warmpath.adapter.kubernetes;

import org.jspecify.annotations.Nullable;

/** The objects of a cluster that workers are found by. */
interface ClusterView extends AutoCloseable {
    /** What they are, for the log. */
    String what();

    void start();

    /**
     * The workers they amount to; null: not all of them have been listed yet, and what was found
     * before holds. One thread.
     */
    @Nullable FoundWorkers found();

    /** The API server answered the last questions. Any thread. */
    boolean connected();

    @Override
    void close();
}
