package io.warmpath.gateway.request;

import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.AdapterBases;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The names that stand for something else: aliases, adapters, models with a namespace, what
 * operators rewrite while all runs, and adapters that engines tell of. All others stand for
 * themselves. Any thread; three look-ups.
 */
public final class ModelNames {
    /** Every name stands for itself. */
    public static final ModelNames NONE = new ModelNames(Map.of());

    private final Map<String, ModelName> byName;
    private final AdapterBases told;
    private final ModelRewrites rewrites;

    public ModelNames(Map<String, ModelName> byName) {
        this(byName, new AdapterBases());
    }

    /** {@code told}: the bases of adapters that are not among the names. */
    public ModelNames(Map<String, ModelName> byName, AdapterBases told) {
        this(Map.copyOf(byName), told, ModelRewrites.NONE);
    }

    private ModelNames(Map<String, ModelName> byName, AdapterBases told, ModelRewrites rewrites) {
        this.byName = byName;
        this.told = told;
        this.rewrites = rewrites;
    }

    /** The same behind what operators rewrite. */
    public ModelNames behind(ModelRewrites first) {
        return new ModelNames(byName, told, first);
    }

    /**
     * What a name in a request stands for, where requests may be shared out.
     *
     * @param whose a request's, or a whole session's: the same text always gets the same share
     */
    public ModelName of(String asked, Supplier<String> whose) {
        if (rewrites == ModelRewrites.NONE) {
            return of(asked);
        }
        String target = rewrites.target(asked, share(whose.get()));
        if (target == null || target.equals(asked)) {
            return of(asked);
        }
        ModelName known = of(target);
        return new ModelName(asked, known.served(), known.base(), known.namespace());
    }

    /** From 0 to below 1; texts that differ in one letter lie far apart. */
    private static double share(String text) {
        long mixed = text.hashCode() * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
        return (mixed >>> 11) * 0x1p-53;
    }

    /** Operators have said what this name stands for. */
    private boolean isGiven(String asked) {
        return byName.containsKey(asked) || rewrites.target(asked, 0) != null;
    }

    /** What a name stands for by itself. */
    public ModelName of(String asked) {
        ModelName known = byName.get(asked);
        if (known != null) {
            return known;
        }
        if (told.isEmpty()) {
            return ModelName.plain(asked);
        }
        String base = told.of(asked);
        if (base != null) {
            return adapter(asked, asked, base);
        }
        int colon = asked.indexOf(':'); // SGLang's way to name an adapter
        String served = asked.substring(colon + 1);
        String before = asked.substring(0, Math.max(0, colon));
        return before.equals(told.of(served))
                ? adapter(asked, served, before)
                : ModelName.plain(asked);
    }

    /** With the namespace of its base. */
    private ModelName adapter(String asked, String served, String base) {
        ModelName of = byName.get(base);
        return new ModelName(asked, served, base, of == null ? "" : of.namespace());
    }

    /** The model whose tokens a name has: an adapter's base, else what the name stands for. */
    public String base(String asked) {
        return of(asked).base();
    }

    /**
     * Why no worker of this fleet serves a name. Not found is what all workers have been asked
     * about: while one has not said yet what it serves, or none is there, it may be served soon,
     * and clients of OpenAI's libraries try 503 again and 404 never.
     */
    public GatewayError unserved(FleetSnapshot fleet, String asked, Duration retryAfter) {
        int unlearnt = fleet.unlearnt();
        int workers = fleet.workers().size();
        if (workers > 0 && unlearnt == 0 && !isGiven(asked)) {
            return new GatewayError.UnknownModel(asked);
        }
        String why =
                workers == 0
                        ? "no worker is there yet"
                        : unlearnt == 0
                                ? ""
                                : "%s of %s workers did not say yet what they serve"
                                        .formatted(unlearnt, workers);
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
