package io.warmpath.wiring.settings;

import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.router.RouterConfig;
import io.warmpath.config.router.SharedCacheHits;
import io.warmpath.routing.CostKind;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Which cost decides: the one that is named, else that in blocks where a key asks for it, else that
 * in milliseconds. Stateless.
 */
final class CostSettings {
    /**
     * A key that, of the two costs, only the one in blocks reads.
     *
     * @param why what it says about blocks; {@code routing.md} has the same
     * @param asks it is set; of a switch, to what is not its default
     */
    record BlockKey(String name, String why, Predicate<WarmpathConfig> asks) {}

    static final List<BlockKey> BLOCK_KEYS =
            List.of(
                    weight(
                            "overlap-score-credit",
                            "worth of a cached block; milliseconds count what is left to compute",
                            RouterConfig::overlapScoreCredit),
                    weight(
                            "overlap-score-credit-decay",
                            "shrinks that worth",
                            RouterConfig::overlapScoreCreditDecay),
                    weight(
                            "prefill-load-scale",
                            "blocks to prefill against blocks in decode; both are milliseconds"
                                    + " there",
                            RouterConfig::prefillLoadScale),
                    weight(
                            "overlap-score-weight",
                            "the older name of the scale",
                            RouterConfig::overlapScoreWeight),
                    weight(
                            "decode-active-request-weight",
                            "blocks for a running request; milliseconds count how it slows others",
                            RouterConfig::decodeActiveRequestWeight),
                    weight(
                            "host-cache-hit-weight",
                            "worth of a block in host memory; milliseconds count its transfer",
                            RouterConfig::hostCacheHitWeight),
                    weight(
                            "disk-cache-hit-weight",
                            "the same of slower tiers",
                            RouterConfig::diskCacheHitWeight),
                    router("agentic", "a set of these weights", RouterConfig::agentic),
                    router("load-aware", "these weights at 0", RouterConfig::loadAware),
                    router(
                            "track-prefill-tokens",
                            "off: prompts cost no prefill; in milliseconds they always do",
                            r -> !r.trackPrefillTokens()),
                    router(
                            "track-active-blocks",
                            "off: blocks in decode cost nothing; milliseconds count requests",
                            r -> !r.trackActiveBlocks()),
                    router(
                            "track-output-blocks",
                            "on: blocks in decode grow with answers",
                            RouterConfig::trackOutputBlocks),
                    router(
                            "assume-kv-reuse",
                            "off: blocks that requests share are counted for each",
                            r -> !r.assumeKvReuse()),
                    new BlockKey(
                            "warmpath.shared-cache.multiplier",
                            "worth of a block in a pool; milliseconds count its transfer",
                            c -> c.sharedCache().multiplier().isPresent()),
                    new BlockKey(
                            "warmpath.shared-cache.hits",
                            "any: which blocks of a pool have that worth",
                            c -> c.sharedCache().hits() != SharedCacheHits.CONTIGUOUS));

    private CostSettings() {}

    private static BlockKey weight(
            String name, String why, Function<RouterConfig, Optional<Double>> value) {
        return router(name, why, r -> value.apply(r).isPresent());
    }

    private static BlockKey router(String name, String why, Predicate<RouterConfig> asks) {
        return new BlockKey("warmpath.router." + name, why, c -> asks.test(c.router()));
    }

    static CostKind cost(WarmpathConfig config) {
        return config.router()
                .cost()
                .orElseGet(() -> asking(config).isEmpty() ? CostKind.LATENCY : CostKind.BLOCKS);
    }

    /** Where nobody named the cost in blocks: why it is taken. One line for the start. */
    static Optional<String> taken(WarmpathConfig config) {
        return told(config, config.router().cost().isEmpty())
                .map(
                        keys ->
                                "Costs are in blocks, as with --router-cost blocks: only that"
                                        + " cost reads "
                                        + keys
                                        + ". Where nothing of the kind is set, or with"
                                        + " --router-cost latency, they are in milliseconds.");
    }

    /** Where the cost in milliseconds is named: which keys say nothing to it. */
    static Optional<String> idle(WarmpathConfig config) {
        boolean latency = config.router().cost().filter(CostKind.LATENCY::equals).isPresent();
        return told(config, latency)
                .map(
                        keys ->
                                "With --router-cost latency these keys have no effect on which"
                                        + " worker is chosen: "
                                        + keys
                                        + ". They count in the cost in blocks (--router-cost"
                                        + " blocks), and for requests that ask for it by a"
                                        + " router_config_override.");
    }

    /** The keys that ask for blocks; empty: there are none, or no costs are compared at all. */
    private static Optional<String> told(WarmpathConfig config, boolean worthIt) {
        List<String> asking = asking(config);
        return worthIt && !asking.isEmpty() && RouterSettings.mode(config.router()).comparesCosts()
                ? Optional.of(String.join(", ", asking))
                : Optional.empty();
    }

    private static List<String> asking(WarmpathConfig config) {
        return BLOCK_KEYS.stream()
                .filter(key -> key.asks().test(config))
                .map(BlockKey::name)
                .collect(Collectors.toList());
    }
}
