package io.warmpath.api.picker;

import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import java.net.URI;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Workers by the addresses that proxies know them under. Any thread; made anew when the fleet has
 * changed.
 */
final class Endpoints {
    private final Fleet fleet;
    private volatile Table table = Table.of(FleetSnapshot.EMPTY);

    Endpoints(Fleet fleet) {
        this.fleet = fleet;
    }

    /** A proxy can send to it. */
    static boolean reachable(Worker worker) {
        return !"unix".equals(worker.url().getScheme());
    }

    /** {@code host:port}, an IPv6 address in brackets. */
    static String of(URI engine) {
        return EngineAddress.of(engine).hostAndPort();
    }

    /**
     * @param endpoints {@code ip:port}, or {@code ip} for all of its ports
     * @return ids of those that are workers
     */
    Set<Long> workers(List<String> endpoints) {
        Map<String, Set<Long>> known = now().workers;
        Set<Long> found = new HashSet<>();
        for (String endpoint : endpoints) {
            found.addAll(known.getOrDefault(endpoint, Set.of()));
        }
        return found;
    }

    private Table now() {
        FleetSnapshot snapshot = fleet.snapshot();
        Table last = table;
        if (last.snapshot != snapshot) {
            last = Table.of(snapshot);
            table = last;
        }
        return last;
    }

    private record Table(FleetSnapshot snapshot, Map<String, Set<Long>> workers) {
        static Table of(FleetSnapshot snapshot) {
            Map<String, Set<Long>> workers = new HashMap<>();
            for (Worker w : snapshot.workers()) {
                if (reachable(w)) {
                    String endpoint = Endpoints.of(w.url());
                    String host = endpoint.substring(0, endpoint.lastIndexOf(':'));
                    workers.computeIfAbsent(endpoint, e -> new HashSet<>()).add(w.id());
                    workers.computeIfAbsent(host, e -> new HashSet<>()).add(w.id());
                }
            }
            return new Table(snapshot, workers);
        }
    }
}
