package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.config.Config;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RuntimeHooksTest {
    private static Config config(String name, String value) {
        return new SmallRyeConfigBuilder()
                .withSources(new PropertiesConfigSource(Map.of(name, value), "test", 100))
                .build();
    }

    @Test
    void nothing_is_asked_for_as_a_rule() {
        assertEquals(Optional.empty(), RuntimeHooks.asked(config("quarkus.http.port", "1")));
    }

    @ParameterizedTest
    @CsvSource({
        "quarkus.http.access-log.enabled, true",
        "quarkus.micrometer.binder.http-server.enabled, true",
        "quarkus.micrometer.binder.vertx.enabled, true",
        "quarkus.http.header.\"X-A\".value, b",
        "quarkus.http.filter.f.matches, /v1/.*",
        "QUARKUS_HTTP_HEADER__X_A__VALUE, b"
    })
    void what_sees_each_request_is_found(String name, String value) {
        assertEquals(Optional.of(name), RuntimeHooks.asked(config(name, value)));
    }

    @Test
    void what_is_switched_off_asks_for_nothing() {
        assertEquals(
                Optional.empty(),
                RuntimeHooks.asked(config("quarkus.http.access-log.enabled", "false")));
    }
}
