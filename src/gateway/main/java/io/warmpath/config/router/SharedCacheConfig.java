package io.warmpath.config.router;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Caches that engines have outside of their own, such as Mooncake's pools. Part of {@link
 * WarmpathConfig}.
 */
public interface SharedCacheConfig {
    @WithDefault("none")
    @Setting(
            doc =
                    "Whose pool is asked for each request: `none`, `hicache` (SGLang's HiCache with"
                            + " Mooncake), `mooncake-store` (vLLM's MooncakeStoreConnector) or"
                            + " `lmcache` (LMCache in vLLM, whose controller this gateway then is)."
                            + " Needs the mode kv.",
            flags = "--shared-cache-type",
            env = "DYN_SHARED_CACHE_TYPE")
    SharedCacheType type();

    @Setting(
            doc =
                    "Worth of a block in the pool against one on the worker's device, in the cost in"
                            + " blocks; 0 asks and ignores, 1 counts both alike. The cost in"
                            + " milliseconds takes the time of the transfer instead.",
            unset = "0",
            min = 0,
            max = 1,
            flags = "--shared-cache-multiplier",
            env = "DYN_SHARED_CACHE_MULTIPLIER")
    Optional<Double> multiplier();

    @WithDefault("contiguous")
    @Setting(
            doc =
                    "Which blocks of the pool count: `contiguous`, the run that goes on where the"
                            + " worker's own tiers end, or `any` behind its device prefix.")
    SharedCacheHits hits();

    @WithDefault("5ms")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Longest that a request waits for the pool's answer; later ones are remembered"
                            + " for the next prompt. 0: only what is remembered counts.",
            maxTime = "1s")
    Duration deadline();

    @WithDefault("500ms")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Time-out of one question to a master; five in a row that fail leave the pool"
                            + " alone for a while.",
            minTime = "1ms",
            maxTime = "1m")
    Duration timeout();

    @WithDefault("2s")
    @WithConverter(TimeSpan.class)
    @Setting(doc = "How long a page that was there counts as there.", maxTime = "1h")
    Duration heldTtl();

    @WithDefault("500ms")
    @WithConverter(TimeSpan.class)
    @Setting(doc = "How long a page that was missing counts as missing.", maxTime = "1h")
    Duration missingTtl();

    @WithDefault("256")
    @Setting(
            doc = "Most keys in one question; a proxy before the master may limit the URL.",
            unit = "keys",
            min = 1,
            max = 10000)
    int keysPerRequest();

    @Setting(
            doc =
                    "Admin URLs of the Mooncake masters, for all workers; default: what each worker"
                            + " says.",
            unit = "URL,URL,...")
    Optional<List<String>> masters();

    @Setting(
            doc = "Version of SGLang of workers that do not tell it; it decides the form of keys.",
            unit = "0.5.23")
    Optional<String> engineVersion();

    @WithDefault("tcp://*:8300")
    @Setting(
            doc = "Where LMCache's workers push what they hold, their `controller_pull_url`.",
            unit = "tcp://HOST:PORT")
    String lmcachePull();

    @WithDefault("tcp://*:8400")
    @Setting(
            doc =
                    "Where LMCache's workers register and send heartbeats, their"
                            + " `controller_reply_url`.",
            unit = "tcp://HOST:PORT")
    String lmcacheReply();

    @WithDefault("1h")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Time between looks for pages that workers have surely stored; the first comes a"
                            + " minute after the first of them.",
            minTime = "1s",
            maxTime = "7d")
    Duration checkInterval();
}
