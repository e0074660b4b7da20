package io.warmpath.wiring.fleet;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.FlowMetrics;

/** Metrics of requests know the models that workers serve, and forget workers that have left. */
public record WorkerMetrics(FlowMetrics metrics) implements FleetListener {
    @Override
    public void added(Worker worker) {
        worker.models().forEach(metrics::serves);
    }

    @Override
    public void changed(Worker before, Worker after, String why) {
        after.models().forEach(metrics::serves);
    }

    @Override
    public void removed(Worker worker) {
        metrics.predictions().forget(worker.name());
    }
}
