package io.warmpath.config.engine;

import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;

/**
 * Asking a second worker before anything has reached the client. Part of {@link WarmpathConfig}.
 */
public interface RetryConfig {
    @WithDefault("2")
    @Setting(
            doc =
                    "Workers that may have begun with one request, the first one included; those that"
                            + " could not be reached do not count. 1: no retry.",
            unit = "workers per request",
            min = 1,
            max = 8)
    int maxWorkers();

    @WithDefault("0.2")
    @Setting(
            doc =
                    "Retries allowed as a share of the requests of the last ten seconds; beyond it a"
                            + " request gets its worker's error. Unreachable workers do not count.",
            unit = "retries per request",
            min = 0,
            max = 1)
    double budget();

    @WithDefault("10")
    @Setting(
            doc = "Retries allowed however few requests there are.",
            unit = "retries/s",
            min = 0,
            max = 1_000_000)
    int budgetPerSecond();

    @WithDefault("0")
    @Setting(
            doc =
                    "Ask a second worker when a stream's first token takes longer than this percentile"
                            + " of its model's, such as 95; the later one of both is stopped. 0: never.",
            unit = "percent",
            min = 0,
            max = 99.9)
    double hedgePercentile();

    @WithDefault("0.05")
    @Setting(
            doc =
                    "Second workers asked because of a late token, at most, as a share of the requests"
                            + " of the last ten seconds.",
            unit = "hedges per request",
            min = 0,
            max = 1)
    double hedgeShare();
}
