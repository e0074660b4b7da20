package io.warmpath.fleet.address;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.metadata.PoolMetadata;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.ProbeException;
import io.warmpath.fleet.probe.WorkerProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A probe that does not pass on where engines tell to connect to when {@link AddressGuard} refuses
 * it: such events are not followed, such a pool has no master. The worker itself is used. Any
 * thread.
 */
public final class GuardedProbe implements WorkerProbe {
    private final WorkerProbe to;
    private final AddressGuard guard;

    public GuardedProbe(WorkerProbe to, AddressGuard guard) {
        this.to = to;
        this.guard = guard;
    }

    @Override
    public WorkerProfile learn(WorkerSpec spec) throws ProbeException {
        WorkerProfile learnt = to.learn(spec);
        List<String> refused = new ArrayList<>();
        List<EventEndpoint> events = new ArrayList<>(learnt.events());
        if (spec.eventsEndpoint() == null) { // else the record's, judged when it was told
            events.removeIf(e -> !mayFollow(spec, e, refused));
        }
        Offload offload = learnt.offload();
        PoolMetadata pool = offload.pool();
        if (pool != null && spec.pool() == null && !mayAsk(spec, pool, refused)) {
            offload = new Offload(offload.host(), pool.withoutMaster());
        }
        if (refused.isEmpty()) {
            return learnt;
        }
        List<String> disagreements = new ArrayList<>(learnt.disagreements());
        disagreements.addAll(refused);
        return new WorkerProfile(
                learnt.kind(),
                learnt.version(),
                learnt.served(),
                learnt.blockSize(),
                learnt.blockSizeAssumed(),
                learnt.ranks(),
                learnt.capacity(),
                events,
                offload,
                learnt.priorities(),
                learnt.sessions(),
                learnt.disaggregation(),
                learnt.cache(),
                disagreements,
                learnt.unread(),
                learnt.noEvents());
    }

    private boolean mayFollow(WorkerSpec spec, EventEndpoint e, List<String> refused) {
        String replay = e.replayEndpoint();
        List<String> endpoints =
                replay == null ? List.of(e.endpoint()) : List.of(e.endpoint(), replay);
        for (String endpoint : endpoints) {
            String why = why(spec, endpoint);
            if (!why.isEmpty()) {
                refused.add("events of rank " + e.dpRank() + ", as its engine tells: " + why);
                return false;
            }
        }
        return true;
    }

    /** A worker may be asked at its own address; a told one that looks alike is judged, too. */
    private String why(WorkerSpec spec, String endpoint) {
        if (endpoint.equals(EventEndpoint.polled(spec.url()).endpoint())) {
            return "";
        }
        try {
            return guard.refusalOfTold(spec.url(), Place.ofEndpoint(endpoint, 1)).orElse("");
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private boolean mayAsk(WorkerSpec spec, PoolMetadata pool, List<String> refused) {
        Optional<String> why =
                master(pool).flatMap(place -> guard.refusalOfTold(spec.url(), place));
        why.ifPresent(text -> refused.add("master of its pool, as its engine tells: " + text));
        return why.isEmpty();
    }

    /** Where the master's admin HTTP is; empty: none is named in a form that is used. */
    static Optional<Place> master(PoolMetadata pool) {
        String address = pool.masterServerAddress();
        if (address.isEmpty() || address.contains("://")) {
            return Optional.empty();
        }
        int colon = address.lastIndexOf(':');
        String host = colon < 0 || address.endsWith("]") ? address : address.substring(0, colon);
        return Optional.of(new Place("http", Place.bare(host), pool.masterMetricsPort(), 1));
    }

    @Override
    public ServedModels served(WorkerSpec spec) throws ProbeException {
        return to.served(spec);
    }

    @Override
    public Health health(WorkerSpec spec, EngineKind kind) {
        return to.health(spec, kind);
    }

    @Override
    public Health deepHealth(WorkerSpec spec, EngineKind kind) {
        return to.deepHealth(spec, kind);
    }

    @Override
    public List<EngineLoad> load(WorkerSpec spec, EngineKind kind) throws ProbeException {
        return to.load(spec, kind);
    }
}
