package io.warmpath.wiring.fleet;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import java.util.function.Consumer;

/** Tells the models of workers as they become known; more than once where several serve one. */
public record ModelsServed(Consumer<String> then) implements FleetListener {
    @Override
    public void added(Worker worker) {
        worker.models().forEach(then);
    }

    @Override
    public void changed(Worker before, Worker after, String why) {
        after.models().forEach(then);
    }
}
