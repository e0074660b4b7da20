package io.warmpath.adapter.jwt;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What tokens must be and say.
 *
 * @param issuer what {@code iss} must be
 * @param audiences one of them must be in {@code aud}
 * @param algorithms of signatures; with public keys only
 * @param leeway by which clocks may differ
 * @param cacheTime a verified token counts for this long without another look
 * @param tenantClaim must be there when it is given
 * @param modelsClaim a list, or names with blanks between; null: all models
 * @param requestsClaim per minute; null, or a token without it: {@code requestsPerMinute}
 * @param tokensClaim per minute; null, or a token without it: {@code tokensPerMinute}
 * @param weightClaim see {@link io.warmpath.access.Grant#weight}, taken into its range; null, or a
 *     token without it: 1
 */
public record JwtOptions(
        String issuer,
        List<String> audiences,
        List<String> algorithms,
        Duration leeway,
        Duration cacheTime,
        @Nullable String tenantClaim,
        @Nullable String modelsClaim,
        @Nullable String requestsClaim,
        @Nullable String tokensClaim,
        @Nullable String weightClaim,
        long requestsPerMinute,
        long tokensPerMinute) {
    /** Those with a private and a public key. */
    public static final Set<String> PUBLIC_KEY =
            Set.of("RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split(" ", -1));

    public JwtOptions {
        audiences = List.copyOf(audiences);
        algorithms = List.copyOf(algorithms);
        if (issuer.isBlank() || audiences.isEmpty()) {
            throw new IllegalArgumentException(
                    "issuer and audience must be given: a token for somebody else would do"
                            + " otherwise");
        }
        for (String algorithm : algorithms) {
            if (!PUBLIC_KEY.contains(algorithm)) {
                throw new IllegalArgumentException(
                        "the algorithm %s is not one of %s"
                                .formatted(algorithm, PUBLIC_KEY.stream().sorted().toList()));
            }
        }
        if (algorithms.isEmpty()) {
            throw new IllegalArgumentException("no algorithm is allowed");
        }
    }
}
