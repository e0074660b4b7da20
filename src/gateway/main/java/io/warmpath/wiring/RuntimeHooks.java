package io.warmpath.wiring;

import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.eclipse.microprofile.config.Config;

/**
 * What operators may have asked the runtime to do with each request: a request that goes past its
 * server would go past that, too. Stateless.
 */
final class RuntimeHooks {
    private static final List<String> SWITCHES =
            List.of(
                    "quarkus.http.access-log.enabled",
                    "quarkus.micrometer.binder.http-server.enabled",
                    "quarkus.micrometer.binder.vertx.enabled");

    private static final List<String> GROUPS =
            List.of(
                    "quarkus.http.header.",
                    "quarkus.http.filter.",
                    "QUARKUS_HTTP_HEADER_",
                    "QUARKUS_HTTP_FILTER_");

    private RuntimeHooks() {}

    /** The property that asks for one of them; empty: nothing is asked for. */
    static Optional<String> asked(Config config) {
        for (String name : SWITCHES) {
            if (config.getOptionalValue(name, Boolean.class).orElse(false)) {
                return Optional.of(name);
            }
        }
        return StreamSupport.stream(config.getPropertyNames().spliterator(), false)
                .filter(name -> GROUPS.stream().anyMatch(name::startsWith))
                .sorted()
                .findFirst();
    }
}
