package io.warmpath.config.http;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.ByteSize;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** What clients may cost all together, and how long one waits. Part of {@link WarmpathConfig}. */
public interface ClientBoundsConfig {
    @WithDefault("15s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "A stream that is silent for this long gets a comment (`: keep-alive`, for"
                            + " Anthropic's API `event: ping`), so that proxies do not cut it; before"
                            + " its first token its 200 goes out with the first one. 0: never.",
            maxTime = "1h")
    Duration sseKeepAlive();

    @WithDefault("6h")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long a request may take in all, from its whole body to the end of its"
                            + " answer; then it gets 504, or an error event when its stream has begun."
                            + " 0: for ever.",
            maxTime = "7d")
    Duration requestTimeout();

    @WithDefault("0")
    @WithConverter(ByteSize.Reader.class)
    @Setting(
            doc =
                    "Memory that the bodies of all requests together may take until their answers"
                            + " begin; requests beyond it get 503. Not less than a body may be large."
                            + " 0: an eighth of the heap.")
    ByteSize maxBodyMemory();
}
