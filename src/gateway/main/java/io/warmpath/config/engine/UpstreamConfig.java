package io.warmpath.config.engine;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** The side that engines see. */
public interface UpstreamConfig {
    @WithDefault("2s")
    @WithConverter(TimeSpan.class)
    @Setting(doc = "How long connecting to an engine may take.", minTime = "1ms", maxTime = "1m")
    Duration connectTimeout();

    @WithDefault("10m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long an engine may take from the request to the first byte of its"
                            + " answer: queueing and prefill.",
            minTime = "10ms",
            maxTime = "1d")
    Duration firstByteTimeout();

    @WithDefault("2m")
    @WithConverter(TimeSpan.class)
    @Setting(doc = "Longest silence in the middle of an answer.", minTime = "10ms", maxTime = "1d")
    Duration idleTimeout();

    @WithDefault("4s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long an unused connection to an engine is kept. Must be below the"
                            + " engine's own limit, which is 5 s for vLLM and SGLang.",
            minTime = "1ms",
            maxTime = "1h")
    Duration keepAliveTimeout();

    @WithDefault("16384")
    @Setting(
            doc = "Connections to one worker per event loop; further requests wait for one.",
            unit = "connections",
            min = 1,
            max = 1e6)
    int maxConnectionsPerWorker();

    @WithDefault("auto")
    @Setting(
            doc =
                    "Bytes of requests and answers go between clients' and engines' sockets"
                            + " past the HTTP codecs wherever that is possible (`auto`), or never"
                            + " (`off`: several times the CPU, to rule it out when something is"
                            + " wrong).")
    RawPath rawPath();

    @WithDefault("false")
    @Setting(
            doc =
                    "Leave `nvext` in the bodies that engines get. It is taken out by default,"
                            + " as strict engines refuse it; needed when a worker is a gateway.")
    boolean forwardNvext();

    @WithDefault("false")
    @Setting(
            doc =
                    "Pass on what acts on engines or on other requests (`kv_transfer_params`,"
                            + " `bootstrap_*`, `rid`, ...; all of them in src/docs/how-to/security.md),"
                            + " whoever sends it. Refused with 400 by default. Only for a gateway"
                            + " that trusted front ends alone can reach; beside other clients give"
                            + " the front end a key with `hand-off: true`.",
            flags = "--forward-hand-off")
    boolean forwardHandOff();

    @WithDefault("true")
    @Setting(
            doc =
                    "Ask SGLang and vLLM for the usage of every stream in the modes that"
                            + " predict what is cached (kv, vllm-cache-aware), to compare. A"
                            + " client that has not asked for it does not get to see it.")
    boolean requestUsage();

    UpstreamTlsConfig tls();

    PassThroughConfig passThrough();
}
