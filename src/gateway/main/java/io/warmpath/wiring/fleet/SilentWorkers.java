package io.warmpath.wiring.fleet;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.monitor.LeftWorkers;
import io.warmpath.upstream.EngineClient;
import java.time.Duration;

/**
 * Has requests leave a worker that has gone silent and fails its health checks, or has left the
 * fleet, long before their own time-outs. {@code patience}: with its silence; zero: never.
 */
public record SilentWorkers(EngineClient engines, Duration patience)
        implements FleetListener, LeftWorkers.Requests {
    @Override
    public void added(Worker worker) {
        engines.well(worker.url()); // whoever had the address before
    }

    @Override
    public void failing(Worker worker, boolean fails) {
        if (!fails) {
            engines.well(worker.url());
        } else if (!patience.isZero()) {
            engines.unwell(worker.url(), patience);
        }
    }

    @Override
    public void replaced(Worker worker) {
        removed(worker);
        lost(worker);
        engines.well(worker.url()); // what the next one gets
    }

    @Override
    public void removed(Worker worker) {
        leaves(worker, false);
    }

    @Override
    public void lost(Worker worker) {
        leaves(worker, true);
    }

    @Override
    public void ended(Worker worker) {
        engines.well(worker.url());
    }

    private void leaves(Worker worker, boolean lost) {
        if (!patience.isZero()) {
            engines.left(worker.url(), patience, lost);
        }
    }
}
