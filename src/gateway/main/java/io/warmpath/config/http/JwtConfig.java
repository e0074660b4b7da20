package io.warmpath.config.http;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Clients that show JSON web tokens. Part of {@link AuthConfig}. */
public interface JwtConfig {
    @Setting(
            doc =
                    "Public keys of who issues clients' tokens, a JSON web key set: a file, or a URL"
                            + " with https. With it, clients may show a token in place of a key;"
                            + " `issuer` and `audience` must be given too.",
            unit = "path or URL",
            flags = "--jwks")
    Optional<String> jwks();

    @Setting(doc = "What `iss` of a token must be.", flags = "--jwt-issuer")
    Optional<String> issuer();

    @Setting(
            doc = "One of these must be in `aud` of a token.",
            unit = "name,name,...",
            flags = "--jwt-audience")
    Optional<List<String>> audience();

    @WithDefault("RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA")
    @Setting(doc = "Signatures that are accepted; with public keys only.", unit = "name,name,...")
    List<String> algorithms();

    @WithDefault("30s")
    @WithConverter(TimeSpan.class)
    @Setting(doc = "By how much clocks may differ.", maxTime = "5m")
    Duration leeway();

    @WithDefault("1m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How long a verified token counts without another look: a key that its issuer"
                            + " has withdrawn lives on for that long.",
            maxTime = "1h")
    Duration cacheTime();

    @WithDefault("10m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "How often a URL of keys is asked. A token with a key that is not known makes it"
                            + " be asked at once, every 10 s at most.",
            minTime = "1s",
            maxTime = "1d")
    Duration refreshInterval();

    @Setting(
            doc =
                    "Claim that names a token's tenant, for example `org`. With it a token without the"
                            + " claim is refused.")
    Optional<String> tenantClaim();

    @Setting(
            doc =
                    "Claim with the models that a token is for: a list, or names with blanks between."
                            + " With it a token without the claim is refused. Unset: all models.")
    Optional<String> modelsClaim();

    @Setting(doc = "Claim with a client's requests per minute.")
    Optional<String> requestsClaim();

    @Setting(doc = "Claim with a client's tokens per minute.")
    Optional<String> tokensClaim();

    @Setting(
            doc =
                    "Claim with the weight of a client's tenant while others wait, 1 to 1000. A"
                            + " token without it weighs 1.")
    Optional<String> weightClaim();

    @WithDefault("0")
    @Setting(
            doc = "Requests per minute of one `sub`, where no claim says otherwise; 0: no limit.",
            unit = "requests",
            min = 0,
            max = 1e9)
    long requestsPerMinute();

    @WithDefault("0")
    @Setting(
            doc = "Tokens per minute of one `sub`, where no claim says otherwise; 0: no limit.",
            unit = "tokens",
            min = 0,
            max = 1e9)
    long tokensPerMinute();
}
