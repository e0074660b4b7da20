package io.warmpath.api.admin;

import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import org.jspecify.annotations.Nullable;

/** Names the workers that are still there. */
final class WorkerName {
    private WorkerName() {}

    static @Nullable String of(long id, FleetSnapshot fleet) {
        for (Worker w : fleet.workers()) {
            if (w.id() == id) {
                return w.name();
            }
        }
        return null;
    }
}
