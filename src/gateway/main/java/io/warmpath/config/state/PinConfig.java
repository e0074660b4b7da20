package io.warmpath.config.state;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** Prefixes that clients want to be kept in cache. Part of {@link SessionConfig}. */
public interface PinConfig {
    @WithDefault("false")
    @Setting(
            doc =
                    "Heed `nvext.cache_control`: after the answer the worker that gave it is made to"
                            + " keep the prompt, and routing prefers it for prompts that begin so.",
            flags = "--enable-cache-control",
            env = "DYN_ENABLE_CACHE_CONTROL")
    boolean enabled();

    @WithDefault("/hicache/pin_prefix")
    @Setting(doc = "Path at engines that pins are posted to, where they have it.", unit = "path")
    String path();

    @WithDefault("5s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "How long a worker may take to answer about a pin.",
            minTime = "10ms",
            maxTime = "10m")
    Duration timeout();

    @WithDefault("4")
    @Setting(
            doc =
                    "Times that a pin is tried again when the worker cannot be reached, answers too"
                            + " late or with 429 or 5xx: after 1 s, 2 s, 4 s and so on, as long as it"
                            + " would last.",
            unit = "tries",
            min = 0,
            max = 100)
    int retries();

    @WithDefault("1024")
    @Setting(
            doc =
                    "Pins that may wait to be asked for, retries among them; further ones are dropped.",
            unit = "pins",
            min = 1,
            max = 1_000_000)
    int queueSize();

    @WithDefault("10000")
    @Setting(doc = "Pins at once.", unit = "pins", min = 1, max = 1_000_000)
    int max();

    @WithDefault("16000000")
    @Setting(
            doc = "Tokens of the prompts that may be pinned at once.",
            unit = "tokens",
            min = 1,
            max = 1_000_000_000)
    int maxTokens();

    @WithDefault("1000")
    @Setting(
            doc =
                    "Pins at once of one tenant (`x-tenant-id`, `cache_salt`; those without are one).",
            unit = "pins",
            min = 1,
            max = 1_000_000)
    int tenantMax();

    @WithDefault("4000000")
    @Setting(
            doc = "Tokens of the prompts that one tenant may have pinned.",
            unit = "tokens",
            min = 1,
            max = 1_000_000_000)
    int tenantTokens();

    @WithDefault("0.25")
    @Setting(
            doc =
                    "How much routing prefers a worker that keeps a pin: what a pinned block takes off"
                            + " its cost beside what its cache is worth. 0: not at all.",
            unit = "blocks per block",
            min = 0,
            max = 1)
    double weight();

    @WithDefault("1")
    @Setting(
            doc =
                    "Priority of requests with a pin and none of their own, at workers that keep what"
                            + " has a high one; higher is more important. Such a worker's queue"
                            + " heeds it, too, where it goes by priority.",
            min = 1,
            max = 1_000_000)
    int priority();

    KeepAlive keepAlive();

    /** Requests that keep a prefix from becoming the oldest. */
    interface KeepAlive {
        @WithDefault("30s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "Time between two requests that keep a pinned prefix fresh, at workers that"
                                + " have no better way; below the time in which all of a worker's"
                                + " cache is replaced.",
                minTime = "100ms",
                maxTime = "1h")
        Duration interval();

        @WithDefault("1")
        @Setting(
                doc = "Such requests at once; 0: none are sent.",
                unit = "requests per worker",
                min = 0,
                max = 1000)
        int concurrency();

        @WithDefault("20000")
        @Setting(
                doc = "Prompt tokens of such requests; beyond it they come later.",
                unit = "tokens/s per worker",
                min = 1,
                max = 1_000_000_000)
        int tokensPerSecond();

        @WithDefault("8192")
        @Setting(
                doc =
                        "While a rank has more prompt tokens of requests to compute than this, it gets"
                                + " none.",
                unit = "tokens",
                min = 0,
                max = 1_000_000_000)
        int maxBacklog();
    }
}
