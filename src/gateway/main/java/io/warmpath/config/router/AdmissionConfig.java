package io.warmpath.config.router;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.admission.QueuePolicy;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.Optional;

/** Whether and when a request may start. */
public interface AdmissionConfig {
    @Setting(
            doc =
                    "A request waits while every rank that it may go to has more prompt tokens"
                            + " booked than this fraction of what its engine takes per step, or"
                            + " its memory full. Not set: no queue, but 0.25 where clients show"
                            + " keys or tokens, so that they take turns; 1000000: no queue.",
            unit = "fraction",
            flags = {"--router-queue-threshold"},
            env = {"DYN_ROUTER_QUEUE_THRESHOLD"},
            min = 0,
            max = 1e6)
    Optional<Double> queueThreshold();

    @WithDefault("64")
    @Setting(
            doc =
                    "Requests of a model that may wait, times its workers; more are refused. One"
                            + " tenant may have as many as are left free, times its weight. 0: no"
                            + " limit.",
            unit = "requests",
            flags = {"--router-queue-limit"},
            min = 0,
            max = 1e9)
    long queueLimitPerWorker();

    @WithDefault("fcfs")
    @Setting(
            doc =
                    "Who leaves the queue first: fcfs (first come, first served) or wspt (least"
                            + " work first).",
            flags = {"--router-queue-policy"},
            env = {"DYN_ROUTER_QUEUE_POLICY"})
    QueuePolicy queuePolicy();

    @Setting(
            doc =
                    "YAML file with policy classes: queues with shares, thresholds and limits"
                            + " of their own. In place of the other keys of queues.",
            unit = "path",
            flags = {"--router-policy-config"},
            env = {"DYN_ROUTER_POLICY_CONFIG"})
    Optional<String> policyConfig();

    @WithDefault("10s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "A request that waited this long asks the index again before it is routed;"
                            + " 0: never.",
            env = {"DYN_ROUTER_OVERLAP_REFRESH_AFTER_SECS"},
            maxTime = "1h")
    Duration overlapRefreshAfter();

    @WithDefault("8192")
    @Setting(
            doc = "Prompt tokens per step of engines that do not tell theirs.",
            unit = "tokens",
            flags = {"--max-num-batched-tokens"},
            min = 1,
            max = 1e9)
    int maxNumBatchedTokens();

    @Setting(
            doc =
                    "A rank with more than this fraction of its KV blocks in use gets no"
                            + " request; when all are so, requests are refused.",
            unit = "fraction",
            flags = {"--active-decode-blocks-threshold"},
            env = {"DYN_ACTIVE_DECODE_BLOCKS_THRESHOLD"},
            min = 0,
            max = 1)
    Optional<Double> activeDecodeBlocksThreshold();

    @Setting(
            doc = "A rank with more prompt tokens booked than this gets no request.",
            unit = "tokens",
            flags = {"--active-prefill-tokens-threshold"},
            env = {"DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD"},
            min = 0,
            max = 1e18)
    Optional<Long> activePrefillTokensThreshold();

    @Setting(
            doc =
                    "A rank with more prompt tokens booked than this fraction of what its"
                            + " engine takes per step gets no request.",
            unit = "fraction",
            flags = {"--active-prefill-tokens-threshold-frac"},
            env = {"DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD_FRAC"},
            min = 0,
            max = 1e6)
    Optional<Double> activePrefillTokensThresholdFrac();
}
