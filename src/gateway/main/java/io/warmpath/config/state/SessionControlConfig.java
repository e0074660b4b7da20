package io.warmpath.config.state;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.ByteSize;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/**
 * Sessions that clients open and close ({@code nvext.session_control}). Part of {@link
 * SessionConfig}.
 */
public interface SessionControlConfig {
    @WithDefault("5s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long a client waits for an engine to open its session"
                            + " (`nvext.session_control`); then its request fails.",
            minTime = "10ms",
            maxTime = "10m")
    Duration openTimeout();

    @WithDefault("0.5")
    @Setting(
            doc =
                    "Part of a rank's KV tokens that streaming sessions may pin: pinned tokens cannot"
                            + " be evicted, and an engine that is full of them stops. Above it"
                            + " sessions only stay on their rank; 0: always.",
            min = 0,
            max = 1)
    double maxPinned();

    @WithDefault("256K")
    @WithConverter(ByteSize.Reader.class)
    @Setting(
            doc =
                    "Longest conversation that is kept for a session whose client sends only what is"
                            + " new; 0: such turns are refused.",
            minSize = "0",
            maxSize = "64M")
    ByteSize historySize();

    @WithDefault("64M")
    @WithConverter(ByteSize.Reader.class)
    @Setting(doc = "Most bytes of all conversations that are kept.", minSize = "0", maxSize = "64G")
    ByteSize historiesSize();
}
