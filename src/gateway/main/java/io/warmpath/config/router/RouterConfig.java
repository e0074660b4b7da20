package io.warmpath.config.router;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** How a worker is chosen. */
public interface RouterConfig {
    @WithDefault("kv")
    @Setting(
            doc =
                    "How a worker is chosen: by cached prefix and load (kv), random,"
                            + " round-robin, by fewest running requests of all (least-loaded) or of"
                            + " two drawn (power-of-two), by the client alone (direct), or by where"
                            + " earlier prompts went (vllm-cache-aware).",
            flags = {"--router-mode"},
            env = {"DYN_ROUTER_MODE"})
    RouterMode mode();

    @Setting(
            doc =
                    "What costs are made of in the modes kv and direct: the milliseconds until the"
                            + " answer and those that the others lose, learnt from the workers'"
                            + " answers (latency), or weighted blocks to prefill and in decode"
                            + " (blocks). Not set: blocks where a key is set that only this cost"
                            + " reads, which the start says in a line; else latency.",
            unset = "latency",
            flags = {"--router-cost"})
    Optional<CostKind> cost();

    LatencyConfig latency();

    /** What requests of a policy class may do, by its name in `x-dynamo-meta-policy-class`. */
    Map<String, ClassRoutingConfig> classes();

    @Setting(
            doc =
                    "Worth of a cached block on the GPU, in blocks that need no prefill. Above"
                            + " 1 favours caches over balance; 0 ignores caches and follows no KV"
                            + " events.",
            unset = "1.0",
            unit = "blocks",
            flags = {"--router-kv-overlap-score-credit"},
            env = {"DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT"},
            min = 0,
            max = 1e6)
    Optional<Double> overlapScoreCredit();

    @Setting(
            doc =
                    "How fast that worth shrinks on workers with more booked prefill than the"
                            + " least busy one: halved at an excess of one such prompt for 1, never"
                            + " for 0.",
            unset = "0.0",
            flags = {"--router-kv-overlap-score-credit-decay"},
            env = {"DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT_DECAY"},
            min = 0,
            max = 1e6)
    Optional<Double> overlapScoreCreditDecay();

    @Setting(
            doc =
                    "Weight of the blocks to prefill against the blocks in decode. Higher"
                            + " favours time to first token, lower an even decode.",
            unset = "1.0",
            flags = {"--router-prefill-load-scale"},
            env = {"DYN_ROUTER_PREFILL_LOAD_SCALE"},
            min = 0,
            max = 1e6)
    Optional<Double> prefillLoadScale();

    @Setting(
            doc = "Cost of each request that runs on a worker already.",
            unset = "0.0",
            unit = "blocks",
            flags = {"--router-decode-active-request-weight"},
            env = {"DYN_ROUTER_DECODE_ACTIVE_REQUEST_WEIGHT"},
            min = 0,
            max = 1e6)
    Optional<Double> decodeActiveRequestWeight();

    @Setting(
            doc =
                    "Deprecated: sets prefill-load-scale, and at 0 also overlap-score-credit to"
                            + " 0.",
            flags = {"--router-kv-overlap-score-weight", "--kv-overlap-score-weight"},
            env = {"DYN_ROUTER_KV_OVERLAP_SCORE_WEIGHT", "DYN_OVERLAP_SCORE_WEIGHT"},
            min = 0,
            max = 1e6)
    Optional<Double> overlapScoreWeight();

    @WithDefault("false")
    @Setting(
            doc =
                    "Balance load alone: mode kv, cost blocks, no KV events, nothing cached counts, and"
                            + " every running request's blocks count in full. Overrules the keys it"
                            + " is made of.",
            flags = {"--load-aware"},
            env = {"DYN_ROUTER_LOAD_AWARE"})
    boolean loadAware();

    @WithDefault("false")
    @Setting(
            doc =
                    "For agents with long shared prefixes and 16-token blocks: cost blocks,"
                            + " overlap-score-credit 2, prefill-load-scale 4,"
                            + " decode-active-request-weight 64."
                            + " Overrules these keys; not with load-aware.",
            flags = {"--agentic"},
            env = {"DYN_ROUTER_AGENTIC"})
    boolean agentic();

    @WithDefault("0.0")
    @Setting(
            doc =
                    "Randomness of the choice: temperature of a softmax over the costs; 0 takes"
                            + " the lowest cost.",
            flags = {"--router-temperature"},
            env = {"DYN_ROUTER_TEMPERATURE"},
            min = 0,
            max = 1e6)
    double temperature();

    @Setting(
            doc = "Worth of a block in host memory, as a part of one on the GPU.",
            unset = "0.75",
            flags = {"--router-host-cache-hit-weight"},
            env = {"DYN_ROUTER_HOST_CACHE_HIT_WEIGHT"},
            min = 0,
            max = 1)
    Optional<Double> hostCacheHitWeight();

    @Setting(
            doc = "Worth of a block on disk or in a shared pool, as a part of one on the GPU.",
            unset = "0.25",
            flags = {"--router-disk-cache-hit-weight"},
            env = {"DYN_ROUTER_DISK_CACHE_HIT_WEIGHT"},
            min = 0,
            max = 1)
    Optional<Double> diskCacheHitWeight();

    @WithDefault("true")
    @Setting(
            doc =
                    "Follow the engines' KV events. Off: no subscriptions; the index holds what"
                            + " this gateway has decided, for `warmpath.router.ttl`.",
            flags = {"--router-kv-events", "--kv-events"},
            offFlags = {"--no-router-kv-events", "--no-kv-events"},
            env = {"DYN_ROUTER_USE_KV_EVENTS"})
    boolean useKvEvents();

    @WithDefault("2m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Without KV events: how long a worker is taken to hold the prompts that"
                            + " were sent to it.",
            flags = {"--router-ttl-secs"},
            env = {"DYN_ROUTER_TTL_SECS"},
            minTime = "1ms",
            maxTime = "30d")
    Duration ttl();

    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "With KV events: how long a worker is also taken to hold the prompts that"
                            + " were sent to it, until its events tell. 0: events alone. Not set:"
                            + " events alone, and with the cost latency what running requests"
                            + " use.",
            flags = {"--router-predicted-ttl-secs"},
            env = {"DYN_ROUTER_PREDICTED_TTL_SECS"},
            maxTime = "30d")
    Optional<Duration> predictedTtl();

    @WithDefault("5m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "A request of which nothing was heard for this long no longer counts as"
                            + " load. Every piece of an answer counts as hearing of it.",
            env = {"DYN_ROUTER_ACTIVE_REQUEST_EXPIRY_SECS"},
            minTime = "1s",
            maxTime = "30d")
    Duration activeRequestExpiry();

    @WithDefault("true")
    @Setting(
            doc = "Count the KV blocks of running requests as load.",
            flags = {"--router-track-active-blocks", "--track-active-blocks"},
            offFlags = {"--no-router-track-active-blocks", "--no-track-active-blocks"},
            env = {"DYN_ROUTER_TRACK_ACTIVE_BLOCKS"})
    boolean trackActiveBlocks();

    @WithDefault("true")
    @Setting(
            doc =
                    "Count prompt tokens as load until the first token of the answer. Off:"
                            + " prompts cost and book no prefill.",
            flags = {"--router-track-prefill-tokens", "--track-prefill-tokens"},
            offFlags = {"--no-router-track-prefill-tokens", "--no-track-prefill-tokens"},
            env = {"DYN_ROUTER_TRACK_PREFILL_TOKENS"})
    boolean trackPrefillTokens();

    @WithDefault("false")
    @Setting(
            doc =
                    "Count the blocks of answers as they grow. Blocks that no other request"
                            + " uses weigh less as the answer nears the length that"
                            + " `nvext.agent_hints.osl` expects. Needs `track-active-blocks`.",
            flags = {"--router-track-output-blocks", "--track-output-blocks"},
            offFlags = {"--no-router-track-output-blocks", "--no-track-output-blocks"},
            env = {"DYN_ROUTER_TRACK_OUTPUT_BLOCKS"})
    boolean trackOutputBlocks();

    @WithDefault("true")
    @Setting(
            doc =
                    "Equal prefixes of requests that run on one rank occupy their blocks once."
                            + " Off: every request counts in full.",
            flags = {"--router-assume-kv-reuse", "--assume-kv-reuse"},
            offFlags = {"--no-router-assume-kv-reuse", "--no-assume-kv-reuse"},
            env = {"DYN_ROUTER_ASSUME_KV_REUSE"})
    boolean assumeKvReuse();
}
