package io.warmpath.wiring;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.TokensOptions;
import io.warmpath.tokens.model.ModelSources;
import java.util.Map;

/** Configuration from a map and the defaults, without the runtime. */
public final class TestConfig {
    private TestConfig() {}

    public static WarmpathConfig of(Map<String, String> properties) {
        return new SmallRyeConfigBuilder()
                .withSources(new PropertiesConfigSource(properties, "test", 400))
                .withMapping(WarmpathConfig.class)
                .build()
                .getConfigMapping(WarmpathConfig.class);
    }

    /** Token ids for no model at all. */
    public static ModelTokens noTokens() {
        return new ModelTokens(
                ModelSources.of(Map.of(), null),
                source -> {
                    throw new IllegalStateException("nothing to load at " + source);
                },
                TokensOptions.DEFAULT,
                System::nanoTime);
    }
}
