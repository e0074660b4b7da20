package io.warmpath.config.http;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** What clients may take: connections, and time to send. Part of {@link WarmpathConfig}. */
public interface ClientsConfig {
    @WithDefault("10s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "From the first byte of a request until its head is complete; a connection that"
                            + " takes longer is closed.",
            minTime = "100ms",
            maxTime = "1h")
    Duration headTimeout();

    @WithDefault("20s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "A body must bring 500 bytes for each second of every such span, or its end; else"
                            + " the connection is closed. Time in which the gateway itself does not"
                            + " read does not count.",
            minTime = "100ms",
            maxTime = "1h")
    Duration bodyTimeout();

    @WithDefault("2m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long a client's connection is kept on which no request is sent or answered;"
                            + " answers may be silent for as long as they like.",
            minTime = "100ms",
            maxTime = "1d")
    Duration idleTimeout();

    @WithDefault("0")
    @Setting(
            unit = "connections",
            doc =
                    "Connections that clients may have open together. One more takes the place of"
                            + " the one that has been without a request for longest; where all are in"
                            + " use, it is closed. 0: half of what the process may have open"
                            + " (ulimit -n) beside its own files, so that each can have a"
                            + " connection to an engine.",
            min = 0,
            max = 10_000_000)
    int maxConnections();
}
