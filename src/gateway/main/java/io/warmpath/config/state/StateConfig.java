package io.warmpath.config.state;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.Optional;

/** Keeping what is known of caches over a restart. Part of {@link WarmpathConfig}. */
public interface StateConfig {
    @Setting(
            doc =
                    "Directory for snapshots of the prefix index, of this gateway alone; what is in"
                            + " them is taken up at the next start. Unset: nothing is kept. Needs KV"
                            + " events and the native index.",
            unit = "path",
            flags = "--state-directory")
    Optional<String> directory();

    @WithDefault("30s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "Time between snapshots; the last one is written at the end.",
            minTime = "10ms",
            maxTime = "1d")
    Duration interval();

    @WithDefault("10m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long something from a snapshot may stay unconfirmed by its engine, or"
                            + " without a worker, before it is forgotten.",
            minTime = "100ms",
            maxTime = "1d")
    Duration expiry();

    SharedStateConfig shared();
}
