package io.warmpath.gateway.request;

import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The names that stand for something else: aliases, adapters, models with a namespace. All others
 * stand for themselves. Immutable; one look-up.
 */
public final class ModelNames {
    /** Every name stands for itself. */
    public static final ModelNames NONE = new ModelNames(Map.of());

    private final Map<String, ModelName> byName;

    public ModelNames(Map<String, ModelName> byName) {
        this.byName = Map.copyOf(byName);
    }

    public ModelName of(String asked) {
        ModelName known = byName.get(asked);
        return known == null ? ModelName.plain(asked) : known;
    }

    /**
     * Why no worker of this fleet serves a name. Not found is what all workers have been asked
     * about: while one has not said yet what it serves, or none is there, it may be served soon,
     * and clients of OpenAI's libraries try 503 again and 404 never.
     */
    public GatewayError unserved(FleetSnapshot fleet, String asked, Duration retryAfter) {
        int unlearnt = fleet.unlearnt();
        int workers = fleet.workers().size();
        if (workers > 0 && unlearnt == 0 && !byName.containsKey(asked)) {
            return new GatewayError.UnknownModel(asked);
        }
        String why =
                workers == 0
                        ? "no worker is there yet"
                        : unlearnt == 0
                                ? ""
                                : unlearnt
                                        + " of "
                                        + workers
                                        + " workers did not say yet what they serve";
        return new GatewayError.NoHealthyWorker(asked, retryAfter, why);
    }

    /** All names under which something is served by this fleet, sorted; adapters once. */
    public List<ModelName> listed(FleetSnapshot fleet) {
        Map<String, ModelName> all = new TreeMap<>();
        fleet.models().forEach(name -> all.put(name, of(name)));
        byName.forEach(
                (name, known) -> {
                    if (fleet.knows(known.served()) && !name.equals(known.on(EngineKind.SGLANG))) {
                        all.put(name, known);
                    }
                });
        return new ArrayList<>(all.values());
    }
}
