package io.warmpath.telemetry.channel;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.telemetry.channel.RecordChannel.Loss;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Meters of one channel of records. */
public final class ChannelMeters {
    private ChannelMeters() {}

    /** {@code channel}: null: it is off. */
    public static void bind(
            MeterRegistry registry, String name, @Nullable RecordChannel<?> channel) {
        Gauge.builder("warmpath.channel.connected", () -> is(channel) ? 1 : 0)
                .description(
                        "1 while a connector takes the channel's records and none are lost; 0 when it"
                                + " is off")
                .tag("channel", name)
                .register(registry);
        Gauge.builder("warmpath.channel.waiting", () -> channel == null ? 0 : channel.waiting())
                .description("Records that wait in the channel's queue")
                .tag("channel", name)
                .register(registry);
        FunctionCounter.builder(
                        "warmpath.channel.sent", name, n -> channel == null ? 0 : channel.sent())
                .description("Records that the channel's connector has acknowledged")
                .tag("channel", name)
                .register(registry);
        for (Loss cause : Loss.values()) {
            FunctionCounter.builder(
                            "warmpath.channel.lost",
                            name,
                            n -> channel == null ? 0 : channel.lost(cause))
                    .description(
                            "Records that were lost: no room in the queue, refused by the connector,"
                                    + " or on their way when the gateway ended")
                    .tag("channel", name)
                    .tag("cause", cause.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
    }

    private static boolean is(@Nullable RecordChannel<?> channel) {
        return channel != null && channel.connected();
    }
}
