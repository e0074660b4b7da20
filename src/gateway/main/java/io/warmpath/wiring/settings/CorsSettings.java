package io.warmpath.wiring.settings;

import io.warmpath.api.CrossOrigin;
import io.warmpath.config.http.CorsConfig;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Which pages of other origins may call, as configured. */
public final class CorsSettings {
    private static final String ALL = "*";

    /** As browsers write it: no path, no slash behind. */
    private static final Pattern ORIGIN =
            Pattern.compile("[a-z][a-z0-9+.-]*://[^/\\s?#@*]+", Pattern.CASE_INSENSITIVE);

    private CorsSettings() {}

    /**
     * @return empty: no page of another origin
     * @throws StartFailure naming what is wrong
     */
    public static Optional<CrossOrigin> of(CorsConfig config) {
        List<String> origins =
                config.origins().orElse(List.of()).stream().map(String::strip).toList();
        if (origins.isEmpty()) {
            return Optional.empty();
        }
        for (String origin : origins) {
            if (!origin.equals(ALL) && !ORIGIN.matcher(origin).matches()) {
                throw new StartFailure(
                        "warmpath.http.cors.origins has "
                                + origin
                                + "; write an origin as browsers do, such as https://chat.example"
                                + " or http://localhost:3000, without a path, or * for all.");
            }
        }
        if (origins.contains(ALL) && origins.size() > 1) {
            throw new StartFailure(
                    "warmpath.http.cors.origins has * beside others; * alone means all.");
        }
        if (origins.contains(ALL) && config.credentials()) {
            throw new StartFailure(
                    "warmpath.http.cors.credentials cannot be true for origins *: any page could"
                            + " act for its reader. Name the origins.");
        }
        return Optional.of(
                new CrossOrigin(
                        origins,
                        config.headers().orElse(List.of()),
                        config.exposedHeaders(),
                        config.credentials(),
                        config.maxAge()));
    }
}
