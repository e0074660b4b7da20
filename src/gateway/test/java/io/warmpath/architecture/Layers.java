package io.warmpath.architecture;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The layer table of src/docs/explanation/architecture.md: package, and which other packages of
 * ours it may use.
 *
 * <p>A package is named by its first segment below the base; adapters by two ({@code adapter.zmq}).
 * A package that is not in the table fails the test: a new room has to be put on the plan first.
 */
final class Layers {
    /** Use the JDK and each other, nothing else. */
    static final Set<String> PURE =
            Set.of(
                    "fault",
                    "prefix",
                    "fleet",
                    "load",
                    "routing",
                    "access",
                    "admission",
                    "session",
                    "pool",
                    "hot",
                    "replica",
                    "usage",
                    "journal",
                    "plot",
                    "start",
                    "tokens.jinja",
                    "tokens.profile");

    /** What one use case is made of; the gateway puts it in order. */
    private static final Set<String> STEPS =
            Set.of(
                    "fault",
                    "prefix",
                    "fleet",
                    "load",
                    "routing",
                    "access",
                    "admission",
                    "tokens",
                    "pool",
                    "hot",
                    "session",
                    "events",
                    "state",
                    "replica",
                    "journal",
                    "net",
                    "upstream");

    private static final Map<String, Set<String>> MAY_USE = new HashMap<>();

    static {
        allow("fault");
        allow("start");
        allow("prefix", "fault");
        allow("fleet", "fault", "prefix");
        allow("load", "fault", "prefix", "fleet");
        allow("routing", "fault", "prefix", "fleet", "load");
        allow("access");
        allow("adapter.jwt", "access");
        allow("admission", "fault", "prefix", "fleet", "load");
        allow("tokens", "fault", "prefix");
        allow("pool", "fault", "prefix");
        allow("hot", "prefix");
        allow("session", "fault", "prefix", "fleet", "load", "routing");
        allow("events", "fault", "prefix", "fleet");
        allow("state", "fault", "prefix", "events");
        allow("replica", "fault", "prefix", "fleet", "load", "session");
        allow("usage");
        allow("journal");
        allow("net", "fault");
        allow("upstream", "fault", "fleet", "net");
        MAY_USE.put("gateway", STEPS);
        MAY_USE.put("api", with(STEPS, "gateway", "usage"));
        allow("adapter.nativeindex", "fault", "prefix", "tokens", "pool");
        allow("adapter.zmq", "fault", "prefix", "fleet", "events", "pool");
        allow("adapter.nats", "fault", "prefix", "fleet", "events", "state", "replica");
        allow("adapter.mooncake", "fault", "prefix", "pool", "net");
        allow("adapter.sglang", "fault", "fleet", "events");
        allow("adapter.vllm", "fault", "fleet", "events");
        allow("adapter.trtllm", "fault", "prefix", "fleet", "events");
        allow("adapter.openai", "fault", "fleet");
        allow("adapter.enginehttp", "fault", "fleet", "net");
        allow("adapter.enginetokens", "fault", "fleet");
        allow("adapter.kubernetes", "fault", "fleet");
        allow("adapter.tokenizer", "fault", "tokens");
        MAY_USE.put("telemetry", with(STEPS, "gateway", "usage"));
        // For its choices: an enum of the domain is the enum of its key.
        allow("config", "prefix", "fleet", "routing", "session", "admission");
        // The simulated engine must not agree with the product by construction: no index, no
        // hashing, no decoder, no adapter of ours.
        allow("plot");
        allow("audit");
        // Knows the gateway by its endpoints only.
        allow("cli");
        allow("sim", "plot");
        allow("lab", "sim", "plot", "fault", "prefix", "fleet", "load", "routing", "session");
        allow("capture", "prefix", "fleet", "routing", "events", "adapter.zmq");
        MAY_USE.put(
                "tools", with(STEPS, "sim", "lab", "capture", "audit", "cli", "plot", "adapter.*"));
        MAY_USE.put(
                "wiring",
                with(STEPS, "gateway", "usage", "api", "telemetry", "config", "adapter.*"));
    }

    private Layers() {}

    private static void allow(String layer, String... others) {
        MAY_USE.put(layer, Set.of(others));
    }

    private static Set<String> with(Set<String> some, String... more) {
        Set<String> all = new TreeSet<>(some);
        all.addAll(Set.of(more));
        return all;
    }

    static Set<String> names() {
        return MAY_USE.keySet();
    }

    static boolean allows(String from, String to) {
        Set<String> others = MAY_USE.getOrDefault(from, Set.of());
        return from.equals(to)
                || others.contains(to)
                || (to.startsWith("adapter.") && others.contains("adapter.*"));
    }

    /**
     * Layer of a package; empty when it lies outside {@code base}, or is the base itself (which
     * holds no code).
     */
    static Optional<String> layerOf(String base, String packageName) {
        if (!packageName.startsWith(base + ".")) {
            return Optional.empty();
        }
        String[] segments = packageName.substring(base.length() + 1).split("\\.", -1);
        return Optional.of(
                segments[0].equals("adapter") && segments.length > 1
                        ? "adapter." + segments[1]
                        : segments[0]);
    }
}
