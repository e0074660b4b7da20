package io.warmpath.config.engine;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** How workers are judged beside their health checks. Part of {@link WarmpathConfig}. */
public interface HealthConfig {
    @WithDefault("0.2")
    @Setting(
            doc =
                    "Share by which pauses between health checks are longer or shorter by chance, so"
                            + " that gateways do not fall into step.",
            min = 0,
            max = 0.9)
    double jitter();

    @WithDefault("5")
    @Setting(
            doc =
                    "Failed requests (500, 502, 503, 504, a broken or stalled answer) that suspend a"
                            + " worker; each answered one takes half a failure back. 0: never.",
            unit = "requests",
            min = 0,
            max = 1e6)
    int failures();

    @WithDefault("5s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "How long a suspended worker gets nothing; doubles with each time in a row.",
            minTime = "10ms",
            maxTime = "1h")
    Duration pauseMin();

    @WithDefault("1m")
    @WithConverter(TimeSpan.class)
    @Setting(doc = "Longest pause of a suspended worker.", minTime = "10ms", maxTime = "1d")
    Duration pauseMax();

    @WithDefault("3")
    @Setting(
            doc =
                    "Requests, one at a time, that must go well after the pause before a worker is"
                            + " trusted again.",
            unit = "requests",
            min = 1,
            max = 1000)
    int trials();

    @WithDefault("10")
    @Setting(
            doc =
                    "A worker whose first tokens take this many times as long as the median of its"
                            + " peers (per token computed) is suspended. 0: never.",
            unit = "times",
            min = 0,
            max = 1e6)
    double latencyFactor();

    @WithDefault("2s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "First tokens that come sooner on average are never too late.",
            minTime = "1ms",
            maxTime = "1h")
    Duration latencyFloor();

    @WithDefault("10s")
    @WithConverter(TimeSpan.class)
    @Setting(doc = "First tokens are compared once per window.", minTime = "100ms", maxTime = "10m")
    Duration latencyWindow();

    @WithDefault("5")
    @Setting(
            doc = "First tokens in a window that a worker needs to be compared.",
            unit = "answers",
            min = 1,
            max = 1e6)
    int latencySamples();

    @WithDefault("5s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long a worker that came back takes until it gets its full share; it begins"
                            + " with a tenth. 0: at once.",
            maxTime = "1h")
    Duration slowStart();

    @WithDefault("5s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long a stream may be silent whose worker fails its health checks; it goes"
                            + " on elsewhere then, where it can. 0: as long as any other.",
            maxTime = "1h")
    Duration silence();

    @WithDefault("10s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long a worker with running requests may send neither a byte of an answer"
                            + " nor a KV event until it is asked whether it computes at all"
                            + " (warmpath.fleet.deep-health-timeout).",
            minTime = "10ms",
            maxTime = "1h")
    Duration quiet();

    @WithDefault("0.8")
    @Setting(
            doc =
                    "Share of a model's workers that look bad from which on all of them are tried,"
                            + " but for those at whose port nobody listens. 1: only when no other is"
                            + " left.",
            min = 0.01,
            max = 1)
    double panicShare();

    @WithDefault("2s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Time between questions to an engine what it is doing (SGLang's /v1/loads, vLLM's"
                            + " /metrics); requests that did not come through here count as load"
                            + " then. Five times as long where it is only shown: in the modes"
                            + " `round-robin`, `random` and `direct` while there are no busy"
                            + " thresholds. 0: never asked.",
            maxTime = "10m")
    Duration loadInterval();
}
