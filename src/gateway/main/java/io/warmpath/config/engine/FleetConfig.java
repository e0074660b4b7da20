package io.warmpath.config.engine;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.Optional;

/** Workers in general. */
public interface FleetConfig {
    @WithDefault("16")
    @Setting(
            doc = "Tokens per KV block of engines that neither tell it nor have it configured.",
            unit = "tokens",
            flags = {"--kv-cache-block-size", "--page-size"},
            env = {"DYN_KV_CACHE_BLOCK_SIZE"},
            min = 1,
            max = 65536)
    int defaultBlockSize();

    @Setting(
            doc =
                    "Path that every engine is asked at for its health. Without it, each kind of"
                            + " engine is asked what costs it least: SGLang /ready, and /health,"
                            + " which generates a token, only when it is suspected; vLLM and others"
                            + " /health.",
            unit = "path")
    Optional<String> healthPath();

    @WithDefault("2s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Time between health checks of a worker, and from its last good answer to a"
                            + " request to the next check; one that answers all the time is checked"
                            + " after four times as long.",
            minTime = "10ms",
            maxTime = "10m")
    Duration healthInterval();

    @WithDefault("3s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long a health check, or a question to an engine, may take. A check that"
                            + " takes longer counts only when nothing has come from the engine"
                            + " meanwhile, neither a byte of an answer nor a KV event.",
            minTime = "10ms",
            maxTime = "1m")
    Duration healthTimeout();

    @WithDefault("25s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long an engine may take to answer the deep question, whether it computes,"
                            + " which is asked on suspicion only. SGLang gives up by itself after"
                            + " 20 s (SGLANG_HEALTH_CHECK_TIMEOUT): longer than that.",
            minTime = "10ms",
            maxTime = "10m")
    Duration deepHealthTimeout();

    @WithDefault("2")
    @Setting(
            doc =
                    "Failed checks in a row that make a worker unhealthy. A refused connection"
                            + " does so at once.",
            unit = "checks",
            min = 1,
            max = 100)
    int failuresToUnhealthy();

    @WithDefault("500ms")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "Time between health checks of an unhealthy worker.",
            minTime = "10ms",
            maxTime = "10m")
    Duration unhealthyInterval();

    @WithDefault("60s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "How long a worker that is being removed may take to finish its requests.",
            maxTime = "1d")
    Duration drainTimeout();

    @WithDefault("1s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Time between looks at the configuration file, whose workers are taken up"
                            + " anew when it has changed. 0: never.",
            maxTime = "1h")
    Duration reloadInterval();

    FleetNatsConfig nats();
}
