package io.warmpath.config.engine;

import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;

/** Workers that register themselves at NATS. Part of {@link WarmpathConfig.Fleet}. */
public interface FleetNatsConfig {
    @WithDefault("false")
    @Setting(
            doc =
                    "Take the workers that their relays register at NATS (`./warmpath relay"
                            + " --register`), as they come and go. NATS is reached as"
                            + " `warmpath.nats` says.",
            flags = "--nats-discovery")
    boolean enabled();
}
