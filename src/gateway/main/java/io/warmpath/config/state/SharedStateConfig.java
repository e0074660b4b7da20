package io.warmpath.config.state;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** Snapshots that several gateways share through NATS. Part of {@link StateConfig}. */
public interface SharedStateConfig {
    @WithDefault("1000000")
    @Setting(
            doc =
                    "Messages in the stream that the newest shared snapshot does not cover, after"
                            + " which one gateway writes another.",
            unit = "messages",
            flags = "--router-snapshot-threshold",
            env = "DYN_ROUTER_SNAPSHOT_THRESHOLD",
            min = 1)
    long threshold();

    @WithDefault("false")
    @Setting(
            doc =
                    "At the start, drop all shared snapshots and all that is in the stream of events."
                            + " Only for the first gateway of a component: others that are alive are"
                            + " left with more than new ones can know. With `warmpath.state.directory`:"
                            + " what lies there is not taken up.",
            flags = "--router-reset-states",
            env = "DYN_ROUTER_RESET_STATES")
    boolean reset();

    @WithDefault("10s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long the gateway that writes a shared snapshot may be silent before another"
                            + " takes over.",
            minTime = "100ms",
            maxTime = "10m")
    Duration lease();

    @WithDefault("10m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long a gateway may be gone before its place in the stream is given up, and"
                            + " what only it has not read may be purged.",
            minTime = "1s",
            maxTime = "30d")
    Duration orphanExpiry();

    @WithDefault("10s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long the start waits for NATS to ask for a snapshot; without one the index"
                            + " starts empty, and this gateway writes none.",
            maxTime = "10m")
    Duration startTimeout();
}
