package io.warmpath.wiring;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import java.util.function.Consumer;

/**
 * Tells of workers that have left for good.
 *
 * @param forget takes the worker's name
 */
record FleetLeft(Consumer<String> forget) implements FleetListener {
    @Override
    public void removed(Worker worker) {
        forget.accept(worker.name());
    }
}
