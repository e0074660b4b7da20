package io.warmpath.config.state;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.Optional;

/** Several gateways before the same workers. Part of {@link WarmpathConfig}. */
public interface ReplicaConfig {
    @WithDefault("false")
    @Setting(
            doc =
                    "Gateways tell each other over NATS what they have running, so that each routes by"
                            + " the load of all.",
            flags = {"--router-replica-sync"},
            env = {"DYN_ROUTER_REPLICA_SYNC"})
    boolean sync();

    @WithDefault("100ms")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "What another gateway has told counts as long as it is certainly not older. Stale"
                            + " load sends all gateways to the same worker.",
            minTime = "20ms",
            maxTime = "10s")
    Duration maxAge();

    @Setting(
            doc =
                    "The same on all gateways: keys the names of prompt blocks, so that no client can"
                            + " make its prompts pass for others'. Unset: made from"
                            + " `warmpath.nats.namespace` and `component`, which a client may guess.",
            secret = true)
    Optional<String> secret();
}
