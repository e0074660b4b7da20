package io.warmpath.fleet;

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
     * on trial that have one already, and for a share of the requests without those that have just
     * come back. Empty only when there is no candidate at all.
     *
     * @param draw the same for all looks of one request
     */
    default List<Candidate> open(String model, double draw) {
        return snapshot().candidates(model);
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
     * The first token of a request came.
     *
     * @param nanos since it was sent
     * @param computedTokens of its prompt
     */
    default void firstToken(long workerId, long nanos, int computedTokens) {}

    /** A request could not connect to, or was cut off by, this worker: check its health now. */
    void reportFailure(long workerId);
}
