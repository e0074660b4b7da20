package io.warmpath.config.http;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Who clients are, and who we are to engines. Part of {@link WarmpathConfig}. */
public interface AuthConfig {
    @Setting(
            doc =
                    "YAML file of clients' API keys: their SHA-256, what each may do, its limits"
                            + " (src/docs/how-to/security.md). Read again when it changes. With it, or with"
                            + " `warmpath.auth.keys` or `warmpath.auth.jwt.jwks`, requests without a"
                            + " valid key get 401. Unset: everybody may send requests.",
            unit = "path",
            flags = "--api-key-file")
    Optional<String> keyFile();

    @Setting(
            doc =
                    "API keys without limits, besides those of the file: a name and the SHA-256 of"
                            + " the key, as `warmpath key new` prints them.",
            unit = "NAME:SHA256,...",
            secret = true)
    Optional<List<String>> keys();

    @WithDefault("2s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "How often files of keys and certificates are looked at for changes.",
            minTime = "100ms",
            maxTime = "1h")
    Duration reloadInterval();

    @WithDefault("false")
    @Setting(
            doc =
                    "Pass clients' own keys on to engines. They end here otherwise; while no keys of"
                            + " clients are checked they are always passed on.")
    boolean forwardKeys();

    @Setting(doc = "API key that engines want, sent to all of them.", secret = true)
    Optional<String> engineKey();

    @Setting(
            doc =
                    "File of the API keys that engines want: a line for each, `HOST:PORT KEY` or"
                            + " `* KEY` for all others. Read again when it changes.",
            unit = "path",
            flags = "--engine-key-file")
    Optional<String> engineKeyFile();

    JwtConfig jwt();
}
