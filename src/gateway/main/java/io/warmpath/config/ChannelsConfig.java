package io.warmpath.config;

import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import java.util.Optional;

/** Records for others' systems, through reactive messaging. Part of {@link WarmpathConfig}. */
public interface ChannelsConfig {
    @Setting(
            doc =
                    "Connector that gets one record for every request that has ended: `nats`, or"
                            + " `kafka` and `amqp` in a build that has them, or any other by its name."
                            + " Its attributes are `mp.messaging.outgoing.usage.*`. Unset: off.",
            unit = "connector",
            flags = "--usage-channel")
    Optional<String> usage();

    @Setting(
            doc =
                    "Connector that gets every routing decision in full, and how it ended, as the"
                            + " lines of `--explain-decisions-file`. Its attributes are"
                            + " `mp.messaging.outgoing.decisions.*`. Unset: off.",
            unit = "connector",
            flags = "--decisions-channel")
    Optional<String> decisions();

    @WithDefault("10000")
    @Setting(
            doc =
                    "Records of one channel that wait for its connector; those that come while so"
                            + " many wait are lost and counted.",
            unit = "records",
            min = 1,
            max = 1_000_000)
    int queue();
}
