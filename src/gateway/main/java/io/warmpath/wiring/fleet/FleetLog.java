package io.warmpath.wiring.fleet;

import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.probe.TestedEngines;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.tokens.profile.EngineProfile;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/** One line per change of the fleet. */
public final class FleetLog implements FleetListener {
    private static final Logger LOG = Logger.getLogger(FleetLog.class);

    private final boolean kvMode;
    private final Set<String> untested = ConcurrentHashMap.newKeySet();
    private final Set<String> otherVersions = ConcurrentHashMap.newKeySet();

    /**
     * @param kvMode routing wants KV events and token ids, so a worker without them is worth a
     *     warning, and an engine of another version than its prompts are made for worth a line
     */
    FleetLog(boolean kvMode) {
        this.kvMode = kvMode;
    }

    @Override
    public void added(Worker worker) {
        LOG.infof("Worker %s added: %s", worker.name(), worker.url());
    }

    @Override
    public void troubled(Worker worker, String problem) {
        LOG.warnf(
                "Worker %s at %s gets no requests%s and is asked again and again: %s",
                worker.name(),
                worker.url(),
                worker.state() == WorkerState.STARTING ? " yet" : "",
                problem);
    }

    @Override
    public void attached(Worker worker, List<EventEndpoint> events, String noEvents) {
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
        if (kvMode
                && events.isEmpty()
                && noEvents.isEmpty()
                && !worker.disaggregation().decodesOnly()) {
            LOG.warnf(
                    "Worker %s publishes no KV events; it is routed by load alone. Start it with"
                            + " KV events on, or configure events-endpoint.",
                    worker.name());
        }
        String tested = TestedEngines.version(worker.kind());
        if (!tested.isEmpty()
                && !TestedEngines.isTested(worker.kind(), worker.version())
                && untested.add(worker.kind() + " " + worker.version())) {
            LOG.infof(
                    "Worker %s is %s %s, with which this gateway was not tested; %s was.",
                    worker.name(), worker.kind(), version(worker), tested);
        }
        EngineProfile profile = Engines.of(worker.kind());
        if (kvMode
                && !profile.version().isEmpty()
                && !profile.isWrittenFor(worker.version())
                && otherVersions.add(worker.kind() + " " + worker.version())) {
            LOG.infof(
                    "Worker %s is %s %s: its chats are rendered here as %s renders them, the nearest"
                            + " version that is known. A difference would show in the self-check.",
                    worker.name(), worker.kind(), version(worker), profile.version());
        }
    }

    private static String version(Worker worker) {
        return worker.version().isEmpty() ? "of unknown version" : worker.version();
    }

    @Override
    public void disagrees(Worker worker, List<String> what) {
        LOG.warnf(
                "Worker %s serves, but not all that is told of it is used: %s",
                worker.name(), String.join("; ", what));
    }

    @Override
    public void changed(Worker before, Worker after, String why) {
        if (before.state() == after.state()) {
            LOG.infof("Worker %s: %s", after.name(), why);
        } else if (after.state() == WorkerState.UNHEALTHY
                || after.state() == WorkerState.SUSPENDED) {
            LOG.warnf(
                    "Worker %s is %s: %s",
                    after.name(), after.state().name().toLowerCase(Locale.ROOT), why);
        } else {
            LOG.infof("Worker %s is %s: %s", after.name(), after.state(), why);
        }
    }

    @Override
    public void removed(Worker worker) {
        LOG.infof("Worker %s removed", worker.name());
    }
}
