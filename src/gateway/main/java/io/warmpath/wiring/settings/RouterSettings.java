package io.warmpath.wiring.settings;

import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.router.LatencyConfig;
import io.warmpath.config.router.RouterConfig;
import io.warmpath.load.LoadOptions;
import io.warmpath.routing.BlockWeights;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.TaintMatch;
import io.warmpath.routing.rates.LatencyPriors;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The router's keys as its options: presets and older names are resolved here. Stateless. */
public final class RouterSettings {
    private RouterSettings() {}

    /** Throws {@link StartFailure} when presets are asked for that exclude each other. */
    public static RouterOptions options(WarmpathConfig config) {
        RouterConfig r = config.router();
        CostKind cost = CostSettings.cost(config);
        if (r.agentic() && r.loadAware()) {
            throw new StartFailure(
                    "warmpath.router.agentic and warmpath.router.load-aware cannot both be set; leave"
                            + " one of them out");
        }
        if (cost == CostKind.LATENCY && (r.agentic() || r.loadAware())) {
            throw new StartFailure(
                    "warmpath.router.agentic and warmpath.router.load-aware are presets of the cost"
                            + " blocks; leave them out or set warmpath.router.cost to blocks");
        }
        return new RouterOptions(mode(r), cost, weights(r), latency(r.latency()), r.temperature());
    }

    /**
     * What is booked of requests; load-aware counts every block of every request.
     *
     * @throws StartFailure when output blocks are to be tracked without active blocks
     */
    static LoadOptions load(RouterConfig r) {
        boolean activeBlocks = r.trackActiveBlocks() || r.loadAware();
        if (r.trackOutputBlocks() && !activeBlocks) {
            throw new StartFailure(
                    "warmpath.router.track-output-blocks needs track-active-blocks: output blocks"
                            + " are active blocks");
        }
        return new LoadOptions(
                r.activeRequestExpiry(),
                activeBlocks,
                r.trackOutputBlocks(),
                r.assumeKvReuse() && !r.loadAware());
    }

    /** What to tell the operator about names that will go; empty when none is used. */
    static Optional<String> deprecation(RouterConfig r) {
        return r.overlapScoreWeight()
                .map(
                        w ->
                                "warmpath.router.overlap-score-weight is deprecated; it now means"
                                        + " warmpath.router.prefill-load-scale = "
                                        + w
                                        + (w == 0
                                                ? " and warmpath.router.overlap-score-credit = 0"
                                                : ""));
    }

    /** Decisions say how much of a prompt is cached, so that engines' reports can be compared. */
    static boolean predictsCache(WarmpathConfig config) {
        return usesIndex(config) || mode(config.router()) == RouterMode.VLLM_CACHE_AWARE;
    }

    /** When what is cached is worth nothing nobody looks at the index, and there is none. */
    public static boolean usesIndex(WarmpathConfig config) {
        RouterConfig r = config.router();
        return !r.loadAware()
                && mode(r) != RouterMode.VLLM_CACHE_AWARE
                && !(mode(r) == RouterMode.KV
                        && CostSettings.cost(config) == CostKind.BLOCKS
                        && weights(r).overlapCredit() == 0);
    }

    /** Where there is no index nobody has to fill it. */
    public static boolean followsEvents(WarmpathConfig config) {
        return config.router().useKvEvents() && usesIndex(config);
    }

    /** With events: how long a decision counts beside them; empty: not at all. */
    public static Optional<Duration> predictedTtl(RouterConfig router) {
        return router.predictedTtl().filter(Duration::isPositive);
    }

    /** By policy class. Throws {@link StartFailure} when one is not understood. */
    static Map<String, List<TaintMatch>> classTolerations(RouterConfig r) {
        Map<String, List<TaintMatch>> all = new HashMap<>();
        r.classes()
                .forEach(
                        (name, c) ->
                                all.put(
                                        name,
                                        c.tolerations().orElse(List.of()).stream()
                                                .map(text -> toleration(name, text))
                                                .toList()));
        return all;
    }

    private static TaintMatch toleration(String policyClass, String text) {
        try {
            return TaintMatch.parse(text);
        } catch (IllegalArgumentException e) {
            throw new StartFailure(
                    "warmpath.router.classes." + policyClass + ".tolerations: " + e.getMessage());
        }
    }

    public static RouterMode mode(RouterConfig r) {
        return r.loadAware() ? RouterMode.KV : r.mode();
    }

    private static LatencyPriors latency(LatencyConfig l) {
        return new LatencyPriors(
                l.stepMillis(),
                l.decodeMicrosPerRequest() / 1e3,
                l.decodeNanosPerToken() / 1e6,
                l.prefillMicrosPerToken() / 1e3,
                l.prefillNanosPerPair() / 1e6,
                l.hostTokensPerSecond(),
                l.poolTokensPerSecond(),
                l.workPrice(),
                l.outputTokens());
    }

    private static BlockWeights weights(RouterConfig r) {
        BlockWeights d = BlockWeights.DEFAULT;
        BlockWeights w =
                new BlockWeights(
                        r.overlapScoreCredit().orElse(d.overlapCredit()),
                        r.overlapScoreCreditDecay().orElse(d.creditDecay()),
                        r.prefillLoadScale().orElse(d.prefillLoadScale()),
                        r.hostCacheHitWeight().orElse(d.hostWeight()),
                        r.diskCacheHitWeight().orElse(d.diskWeight()),
                        d.sharedMultiplier(),
                        d.sharedRule(),
                        r.decodeActiveRequestWeight().orElse(d.activeRequestWeight()),
                        r.trackPrefillTokens());
        if (r.overlapScoreWeight().isPresent()) {
            w = w.overlapScoreWeight(r.overlapScoreWeight().get());
        }
        return r.agentic() ? w.agentic() : r.loadAware() ? w.loadAware() : w;
    }
}
