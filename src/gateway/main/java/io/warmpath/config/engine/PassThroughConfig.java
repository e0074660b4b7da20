package io.warmpath.config.engine;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** APIs whose requests are passed on without a look at prompt and answer. */
public interface PassThroughConfig {
    @WithDefault("10m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long an engine may take to the first byte of its answer: embeddings,"
                            + " rerank, responses, audio, images.",
            minTime = "10ms",
            maxTime = "1d")
    Duration firstByteTimeout();

    @WithDefault("2m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "Longest silence in the middle of such an answer.",
            minTime = "10ms",
            maxTime = "1d")
    Duration idleTimeout();
}
