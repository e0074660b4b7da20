package io.warmpath.fleet.monitor;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * When bytes of an answer last came from each worker. Any thread; a few dozen nanoseconds. Times
 * are those of {@link System#nanoTime}.
 */
public final class SignsOfLife implements FleetListener {
    private final Map<URI, Long> heard = new ConcurrentHashMap<>();

    /** {@code worker}: its URL, as a name goes to another one at once. */
    public void heard(URI worker, long nanos) {
        heard.merge(worker, nanos, (a, b) -> b - a > 0 ? b : a);
    }

    /** {@code otherwise}: of a worker from which nothing has come since then. */
    public long last(URI worker, long otherwise) {
        Long at = heard.get(worker);
        return at != null && at - otherwise > 0 ? at : otherwise;
    }

    @Override
    public void removed(Worker worker) {
        heard.remove(worker.url());
    }
}
