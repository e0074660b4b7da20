package io.warmpath.wiring.fleet;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.FlowMetrics;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Metrics of requests know the models that workers serve, and forget models and workers that have
 * left. Called by the fleet, one call at a time.
 */
public final class WorkerMetrics implements FleetListener {
    private final FlowMetrics metrics;

    /** How many workers serve each model. */
    private final Map<String, Integer> served = new HashMap<>();

    public WorkerMetrics(FlowMetrics metrics) {
        this.metrics = metrics;
    }

    @Override
    public void added(Worker worker) {
        count(worker.models(), 1);
    }

    @Override
    public void changed(Worker before, Worker after, String why) {
        if (!before.models().equals(after.models())) {
            count(after.models(), 1);
            count(before.models(), -1);
        }
    }

    @Override
    public void removed(Worker worker) {
        count(worker.models(), -1);
        metrics.predictions().forget(worker.name());
        metrics.disagg().pairs().forget(worker.name());
    }

    private void count(Set<String> models, int more) {
        for (String model : models) {
            int now = served.merge(model, more, Integer::sum);
            if (now > 0) {
                metrics.serves(model);
            } else {
                served.remove(model);
                metrics.gone(model);
            }
        }
    }
}
