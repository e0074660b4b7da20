package io.warmpath.wiring.fleet;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import java.util.function.Consumer;

/**
 * Tells of workers that have left for good.
 *
 * @param forget takes the worker's name
 */
public record FleetLeft(Consumer<String> forget) implements FleetListener {
    @Override
    public void removed(Worker worker) {
        forget.accept(worker.name());
    }
}
