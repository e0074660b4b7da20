package io.warmpath.wiring;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.TokenizerLoadException;
import io.warmpath.tokens.TokensOptions;
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

    /** Token ids for no model at all. */
    static ModelTokens noTokens() {
        try {
            return new ModelTokens(
                    Map.of(),
                    null,
                    file -> {
                        throw new IllegalStateException("nothing to load at " + file);
                    },
                    TokensOptions.DEFAULT,
                    System::nanoTime);
        } catch (TokenizerLoadException e) {
            throw new IllegalStateException(e);
        }
    }
}
