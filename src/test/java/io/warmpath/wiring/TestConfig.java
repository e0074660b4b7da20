package io.warmpath.wiring;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.config.WarmpathConfig;
import java.util.Map;

/** Configuration from a map and the defaults, without the runtime. */
final class TestConfig {
    private TestConfig() {}

    static WarmpathConfig of(Map<String, String> properties) {
        return new SmallRyeConfigBuilder()
                .withSources(new PropertiesConfigSource(properties, "test", 400))
                .withMapping(WarmpathConfig.class)
                .build()
                .getConfigMapping(WarmpathConfig.class);
    }
}
