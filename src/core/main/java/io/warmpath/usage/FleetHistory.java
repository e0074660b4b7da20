package io.warmpath.usage;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How each worker of a fleet, and the gateway as a whole, did in the last quarter of an hour. Any
 * thread.
 */
public final class FleetHistory {
    private final LongSupplier millis;
    private final WorkerHistory gateway;
    private final Map<String, WorkerHistory> workers = new ConcurrentHashMap<>();

    /** {@code millis}: a clock's, since 1970. */
    public FleetHistory(LongSupplier millis) {
        this.millis = millis;
        this.gateway = new WorkerHistory(millis.getAsLong());
    }

    /** A worker has come; nothing is kept of others. */
    public void came(String worker) {
        workers.computeIfAbsent(worker, name -> new WorkerHistory(millis.getAsLong()));
    }

    /** It has left, and its history with it. */
    public void left(String worker) {
        workers.remove(worker);
    }

    /** A request has ended on a worker. */
    public void tried(String worker, WorkerTry end) {
        WorkerHistory history = workers.get(worker);
        if (history != null) {
            history.tried(end, millis.getAsLong());
        }
    }

    /** A request has ended, wherever it was sent; first tokens count from when it came. */
    public void ended(WorkerTry end) {
        gateway.tried(end, millis.getAsLong());
    }

    /** What is booked on a worker now; to be called at even times. */
    public void sample(String worker, long prefillTokens, double kvBlocks) {
        WorkerHistory history = workers.get(worker);
        if (history != null) {
            history.sample(prefillTokens, kvBlocks, millis.getAsLong());
        }
    }

    /** Null for a worker that has left. */
    public WorkerHistory.@Nullable Recent recent(String worker) {
        WorkerHistory history = workers.get(worker);
        return history == null ? null : history.recent(millis.getAsLong());
    }

    /** Null for a worker that has left. */
    public WorkerHistory.@Nullable Series series(String worker) {
        WorkerHistory history = workers.get(worker);
        return history == null ? null : history.series(millis.getAsLong());
    }

    public WorkerHistory.Recent gateway() {
        return gateway.recent(millis.getAsLong());
    }

    /** That ended, over the last minute. */
    public double requestsPerSecond() {
        return gateway.requestsPerSecond(millis.getAsLong());
    }
}
