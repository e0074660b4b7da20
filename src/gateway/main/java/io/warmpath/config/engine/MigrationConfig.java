package io.warmpath.config.engine;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.ByteSize;
import io.warmpath.config.setting.Setting;

/** Streams that go on elsewhere when their worker dies. Part of {@link WarmpathConfig}. */
public interface MigrationConfig {
    @WithDefault("3")
    @Setting(
            doc =
                    "How often a stream whose worker died in mid-answer goes on on another worker,"
                            + " unseen by its client; 0: never, the client gets an error event.",
            unit = "times per request",
            flags = "--migration-limit",
            env = "DYN_MIGRATION_LIMIT",
            min = 0,
            max = 100)
    int limit();

    @WithDefault("1M")
    @WithConverter(ByteSize.Reader.class)
    @Setting(
            doc =
                    "Memory that one request may keep for it: its body and the text of its answer."
                            + " A larger one is not moved.",
            minSize = "1K",
            maxSize = "1G")
    ByteSize maxSize();

    @WithDefault("256M")
    @WithConverter(ByteSize.Reader.class)
    @Setting(
            doc =
                    "Memory that all requests together may keep for it; those that come when it is"
                            + " used up are not moved.",
            minSize = "1K")
    ByteSize maxMemory();
}
