package io.warmpath.routing;

import io.warmpath.fleet.Worker;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the pools of a request's candidates hold of its prompt, as far as they have answered.
 * Immutable. Workers of different pools see different blocks; a worker is in one pool at most.
 */
public record SharedView(List<Pool> pools) {
    /** What became of a question. */
    public enum Outcome {
        /** The answer counts in this decision. */
        IN_TIME,
        /** Nobody waits for it any more; it is there for the next prompt like this. */
        LATE,
        FAILED
    }

    /**
     * One pool.
     *
     * @param name for people
     * @param workers ids of those that fetch from it; empty: all
     * @param problem why it failed; empty unless it did
     * @param hits null unless it answered in time
     */
    public record Pool(
            String name,
            Set<Long> workers,
            Outcome outcome,
            String problem,
            @Nullable SharedHits hits) {
        public Pool {
            workers = Set.copyOf(workers);
        }
    }

    public SharedView {
        pools = List.copyOf(pools);
    }

    /** One pool that has answered, for every worker. */
    public static SharedView of(SharedHits hits) {
        return new SharedView(List.of(new Pool("pool", Set.of(), Outcome.IN_TIME, "", hits)));
    }

    /** What this worker can fetch; null where nothing is known. */
    public @Nullable SharedHits hits(Worker worker) {
        for (int i = 0; i < pools.size(); i++) {
            Pool pool = pools.get(i);
            if (pool.workers().isEmpty() || pool.workers().contains(worker.id())) {
                SharedHits hits = pool.hits();
                return hits != null && hits.blockSize() == worker.blockSize() ? hits : null;
            }
        }
        return null;
    }
}
