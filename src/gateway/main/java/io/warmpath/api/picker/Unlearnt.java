package io.warmpath.api.picker;

import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Endpoints of a pool of which none has said yet what it serves, or ever will, as servers that are
 * no engines: the one with the fewest requests is chosen, so that a pool can be used from its first
 * second on. Any thread.
 */
final class Unlearnt {
    private final Fleet fleet;
    private final LongSupplier random;
    private final Map<Long, AtomicInteger> open = new ConcurrentHashMap<>();

    /** {@code random}: 64 random bits. */
    Unlearnt(Fleet fleet, LongSupplier random) {
        this.fleet = fleet;
        this.random = random;
    }

    /** One that was chosen, until it is given back. {@code endpoint}: as in {@link Endpoints}. */
    record Chosen(String endpoint, AtomicInteger requests) {
        void giveBack() {
            requests.decrementAndGet();
        }
    }

    /**
     * @param among ids of those that may be chosen; empty: all
     * @return null: there is none
     */
    @Nullable Chosen choose(Set<Long> among) {
        FleetSnapshot now = fleet.snapshot();
        if (!now.models().isEmpty()) {
            return null; // an engine is there: who asks for another model may wait for its own
        }
        List<Worker> all =
                now.workers().stream()
                        .filter(w -> w.state() == WorkerState.STARTING)
                        .filter(w -> w.disaggregation().role() != Role.ENCODE)
                        .filter(w -> among.isEmpty() || among.contains(w.id()))
                        .filter(Endpoints::reachable)
                        .toList();
        if (all.isEmpty()) {
            return null;
        }
        int first = (int) ((random.getAsLong() >>> 1) % all.size());
        Worker best = all.get(first);
        for (int i = 1; i < all.size(); i++) {
            Worker next = all.get((first + i) % all.size());
            best = requests(next).get() < requests(best).get() ? next : best;
        }
        AtomicInteger its = requests(best);
        its.incrementAndGet();
        return new Chosen(Endpoints.of(best.url()), its);
    }

    /** Those of workers that have gone are kept: a few bytes each, and they may come back. */
    private AtomicInteger requests(Worker worker) {
        return open.computeIfAbsent(worker.id(), id -> new AtomicInteger());
    }
}
