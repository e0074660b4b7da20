package io.warmpath.config;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** Requests that the gateway sends to itself before it is ready. */
public interface WarmupConfig {
    @WithDefault("300")
    @Setting(
            doc =
                    "Requests, at the least, that the gateway sends to itself, against an engine of"
                            + " its own on loopback, before it says that it is ready; it sends more"
                            + " until the JVM's compilers have become calm. 0: none. No metric"
                            + " counts them.",
            unit = "requests",
            flags = {"--warmup-requests"},
            min = 0,
            max = 1e6)
    int requests();

    @WithDefault("10s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Longest time that the warm-up may take; on an idle machine it takes about two seconds.",
            minTime = "1ms",
            maxTime = "5m")
    Duration time();
}
