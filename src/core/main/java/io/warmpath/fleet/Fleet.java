package io.warmpath.fleet;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The fleet as request handling sees it. All methods any thread, no blocking. */
public interface Fleet {
    /** The newest snapshot; one volatile read. */
    FleetSnapshot snapshot();

    /**
     * Why workers get no requests, by their names, of some of them; safe to show to clients, so
     * without addresses.
     */
    default Map<String, String> problems() {
        return Map.of();
    }

    /** One request's luck, for {@link #open}. */
    default double draw() {
        return 0;
    }

    /**
     * Who may get a request for this model now: {@link FleetSnapshot#candidates}, without workers
     * whose queues are full, without those on trial that have one already, and for a share of the
     * requests without those that have just come back. Empty only when there is no candidate at
     * all.
     *
     * @param draw the same for all looks of one request
     */
    default List<Candidate> open(String model, double draw) {
        return Openings.withRoom(snapshot().candidates(model));
    }

    /** Why a request may not go to a worker that takes requests; empty when it may. */
    default String whyNot(Worker worker) {
        return "";
    }

    /**
     * How a request went at this worker.
     *
     * @param beganNanos when it was sent, by {@link System#nanoTime}
     */
    default void ended(long workerId, RequestOutcome outcome, long beganNanos) {}

    /**
     * A worker has not begun with a request, because its queue is full. That is no failure.
     *
     * @param pause how long it gets nothing while others can
     */
    default void full(long workerId, Duration pause) {}

    /**
     * The first token of a request came.
     *
     * @param nanos since it was sent
     * @param computedTokens of its prompt
     */
    default void firstToken(long workerId, long nanos, int computedTokens) {}

    /** A request could not connect to, or was cut off by, this worker: check its health now. */
    void reportFailure(long workerId);
}
