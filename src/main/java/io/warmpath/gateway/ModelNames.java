package io.warmpath.gateway;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetSnapshot;
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
