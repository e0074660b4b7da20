package io.warmpath.wiring.fleet;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.upstream.EngineClient;
import java.time.Duration;

/**
 * Has streams leave a worker that fails its health checks when it has gone silent, long before
 * their own time-outs. {@code patience}: with its silence; zero: never.
 */
public record SilentWorkers(EngineClient engines, Duration patience) implements FleetListener {
    @Override
    public void changed(Worker before, Worker after, String why) {
        boolean was = before.state() == WorkerState.UNHEALTHY;
        boolean is = after.state() == WorkerState.UNHEALTHY;
        if (!was && is && !patience.isZero()) {
            engines.unwell(after.name(), patience);
        } else if (was && !is) {
            engines.well(after.name());
        }
    }

    @Override
    public void removed(Worker worker) {
        engines.well(worker.name());
    }
}
