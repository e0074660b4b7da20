package io.warmpath.config.http;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Which web pages may call clients' endpoints from a browser. Operators' endpoints never. */
public interface CorsConfig {
    @Setting(
            doc =
                    "Origins whose pages may call clients' endpoints, such as"
                            + " https://chat.example; * for all. Unset: the gateway's own pages alone."
                            + " Where no keys are configured, programs of this machine may also ask for"
                            + " the gateway by the names of these origins.",
            unit = "origin,origin,...",
            flags = "--cors-origins")
    Optional<List<String>> origins();

    @Setting(
            doc = "Headers that such pages may send. Unset: whichever they ask for.",
            unit = "name,name,...")
    Optional<List<String>> headers();

    @WithDefault("x-request-id,retry-after")
    @Setting(
            doc = "Headers of answers that such pages may read beside those that all may.",
            unit = "name,name,...")
    List<String> exposedHeaders();

    @WithDefault("false")
    @Setting(
            doc =
                    "Whether browsers may send cookies and client certificates along; not with"
                            + " origins *.")
    boolean credentials();

    @WithDefault("1h")
    @WithConverter(TimeSpan.class)
    @Setting(doc = "How long browsers may remember what is allowed.", maxTime = "1d")
    Duration maxAge();
}
