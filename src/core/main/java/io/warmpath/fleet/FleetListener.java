package io.warmpath.fleet;

import java.util.List;

/**
 * Told of every change of the fleet, one at a time and in order, after the new snapshot is
 * published. Called while the registry is locked: must not call the registry's writers.
 */
public interface FleetListener {
    /**
     * For who looks at the whole snapshot again whenever a worker comes, changes or goes.
     *
     * @param action called as the listener is
     */
    static FleetListener onChange(Runnable action) {
        return new FleetListener() {
            @Override
            public void added(Worker worker) {
                action.run();
            }

            @Override
            public void changed(Worker before, Worker after, String why) {
                action.run();
            }

            @Override
            public void removed(Worker worker) {
                action.run();
            }
        };
    }

    /**
     * A worker's incarnation has its slots; its events may come now.
     *
     * @param noEvents why it is not known where its events are; empty: it is, or it has none
     */
    default void attached(Worker worker, List<EventEndpoint> events, String noEvents) {}

    /**
     * The incarnation is gone. Its slots are closed when this returns, so whoever applies its
     * events must have stopped by then.
     */
    default void detached(Worker worker) {}

    /**
     * Its engine says otherwise than its record, or what cannot be used; told once for the same
     * things.
     */
    default void disagrees(Worker worker, List<String> what) {}

    default void added(Worker worker) {}

    /**
     * It gets no requests, and not for the reason that was told last; {@code problem} is the cause
     * and what to look at.
     */
    default void troubled(Worker worker, String problem) {}

    /** State, models or ranks are other than before; {@code why} is for the log, may be empty. */
    default void changed(Worker before, Worker after, String why) {}

    /**
     * It fails its checks, or is well again, whatever its state: what it has been given and does
     * not answer is better off elsewhere. Told once for each change.
     */
    default void failing(Worker worker, boolean fails) {}

    /**
     * Another process has its address now, so that nobody can ask the one before: another worker,
     * then {@link #removed} follows, or its next incarnation.
     */
    default void replaced(Worker worker) {}

    default void removed(Worker worker) {}
}
