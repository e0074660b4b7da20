package io.warmpath.config.state;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** The engines' KV events. */
public interface EventsConfig {
    @WithDefault("zmq")
    @Setting(
            doc =
                    "How KV events come: straight from the engines, or through NATS JetStream"
                            + " from relays beside the engines (`./warmpath relay`).",
            flags = "--event-plane",
            env = "DYN_EVENT_PLANE")
    EventPlane plane();

    @WithDefault("100ms")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "First pause before connecting to an event source again; doubles.",
            minTime = "1ms",
            maxTime = "1m")
    Duration reconnectMinDelay();

    @WithDefault("5s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "Longest pause before connecting to an event source again.",
            minTime = "1ms",
            maxTime = "10m")
    Duration reconnectMaxDelay();

    @WithDefault("30s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "Silence of an event source after which it is asked for missed events.",
            minTime = "100ms",
            maxTime = "1d")
    Duration auditInterval();

    @WithDefault("5s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "How long missed events are waited for when an engine replays them.",
            minTime = "10ms",
            maxTime = "5m")
    Duration replayTimeout();

    @WithDefault("10s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long an engine may answer requests with new blocks and publish"
                            + " nothing, before what is known of its cache no longer counts.",
            minTime = "100ms",
            maxTime = "1d")
    Duration stallTimeout();

    @WithDefault("0.5")
    @Setting(
            doc =
                    "What a known block counts while events of its rank are missing and being"
                            + " repaired, or late.",
            min = 0,
            max = 1)
    double doubtfulCredit();
}
