package io.warmpath.config.router;

import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;

/** How fast engines are taken to be until their answers say otherwise, for the cost latency. */
public interface LatencyConfig {
    @WithDefault("7.5")
    @Setting(
            doc = "Time of one engine step with one short request.",
            unit = "ms",
            min = 0,
            max = 1e9)
    double stepMillis();

    @WithDefault("20")
    @Setting(doc = "What each running request adds to a step.", unit = "us", min = 0, max = 1e9)
    double decodeMicrosPerRequest();

    @WithDefault("52")
    @Setting(
            doc = "What each token held by running requests adds to a step.",
            unit = "ns",
            min = 0,
            max = 1e9)
    double decodeNanosPerToken();

    @WithDefault("32")
    @Setting(
            doc = "Prefill time of a token, its attention left out.",
            unit = "us",
            min = 0,
            max = 1e9)
    double prefillMicrosPerToken();

    @WithDefault("1.32")
    @Setting(
            doc = "Prefill time of a token for each token before it.",
            unit = "ns",
            min = 0,
            max = 1e9)
    double prefillNanosPerPair();

    @WithDefault("150000")
    @Setting(
            doc = "How fast cached tokens come from host memory.",
            unit = "tokens/s",
            min = 1,
            max = 1e9)
    double hostTokensPerSecond();

    @WithDefault("75000")
    @Setting(
            doc = "How fast cached tokens come from disk or a pool.",
            unit = "tokens/s",
            min = 1,
            max = 1e9)
    double poolTokensPerSecond();

    @WithDefault("1.0")
    @Setting(
            doc =
                    "How much dearer work becomes against waiting as the fleet fills, and as what"
                            + " it evicts is asked for again.",
            unit = "",
            min = 0,
            max = 1e9)
    double workPrice();

    @WithDefault("256")
    @Setting(doc = "Length of an answer until some were seen.", unit = "tokens", min = 1, max = 1e9)
    double outputTokens();
}
