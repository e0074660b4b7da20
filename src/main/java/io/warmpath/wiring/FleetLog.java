package io.warmpath.wiring;

import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import java.util.List;
import org.jboss.logging.Logger;

/** One line per change of the fleet. */
final class FleetLog implements FleetListener {
    private static final Logger LOG = Logger.getLogger(FleetLog.class);

    private final boolean kvMode;

    /**
     * @param kvMode routing wants KV events, so a worker without them is worth a warning
     */
    FleetLog(boolean kvMode) {
        this.kvMode = kvMode;
    }

    @Override
    public void added(Worker worker) {
        LOG.infof("Worker %s added: %s", worker.name(), worker.url());
    }

    @Override
    public void attached(Worker worker, List<EventEndpoint> events) {
        LOG.infof(
                "Worker %s: %s serves %s, %d rank(s), blocks of %d tokens, KV events %s",
                worker.name(),
                worker.kind(),
                worker.models(),
                worker.ranks().size(),
                worker.blockSize(),
                events.isEmpty()
                        ? "none"
                        : String.join(", ", events.stream().map(EventEndpoint::endpoint).toList()));
        if (kvMode && events.isEmpty()) {
            LOG.warnf(
                    "Worker %s publishes no KV events; it is routed by load alone. Start it with"
                            + " KV events on, or configure events-endpoint.",
                    worker.name());
        }
    }

    @Override
    public void changed(Worker before, Worker after, String why) {
        if (before.state() == after.state()) {
            LOG.infof("Worker %s: %s", after.name(), why);
        } else if (after.state() == WorkerState.UNHEALTHY) {
            LOG.warnf("Worker %s is unhealthy: %s", after.name(), why);
        } else {
            LOG.infof("Worker %s is %s: %s", after.name(), after.state(), why);
        }
    }

    @Override
    public void removed(Worker worker) {
        LOG.infof("Worker %s removed", worker.name());
    }
}
