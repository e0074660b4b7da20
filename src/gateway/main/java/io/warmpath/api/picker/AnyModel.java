package io.warmpath.api.picker;

import io.warmpath.access.Visit;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.net.HeaderList;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A model for a request whose body says none, so that one of its workers can be chosen. Any thread.
 *
 * @param random 64 random bits
 */
record AnyModel(Fleet fleet, LongSupplier random) {
    /** The model as another filter of the proxy has found it. */
    private static final String MODEL = "x-gateway-model-name";

    /**
     * What the proxy says, or what one of the workers serves that may be chosen.
     *
     * @param workers ids of those that may be chosen; empty: all
     * @param visit null: whoever asks may use all models
     * @return null: nobody can be chosen
     */
    @Nullable String of(HeaderList headers, Set<Long> workers, @Nullable Visit visit) {
        FleetSnapshot now = fleet.snapshot();
        String named = headers.get(MODEL);
        if (named != null && now.knows(named)) {
            return named;
        }
        List<String> models =
                now.workers().stream()
                        .filter(Worker::available)
                        .filter(w -> workers.isEmpty() || workers.contains(w.id()))
                        .flatMap(w -> allowed(w, visit).stream().limit(1))
                        .toList();
        return models.isEmpty()
                ? null
                : models.get((int) ((random.getAsLong() >>> 1) % models.size()));
    }

    private static List<String> allowed(Worker worker, @Nullable Visit visit) {
        return worker.models().stream().filter(m -> visit == null || visit.allows(m)).toList();
    }
}
