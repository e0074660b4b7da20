package io.warmpath.config;

import io.smallrye.config.ConfigSourceContext;
import io.smallrye.config.ConfigSourceFactory;
import io.smallrye.config.ConfigValue;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.source.yaml.YamlConfigSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.spi.ConfigSource;

/**
 * Adds the file of {@code --config}, the environment aliases and the defaults to every
 * configuration of this process; found by SmallRye Config as a service.
 */
public final class WarmpathSources implements ConfigSourceFactory {
    /** Below the aliases, above everything packed into the jar. */
    public static final int FILE_ORDINAL = 280;

    /** Below everything. */
    private static final int DEFAULTS_ORDINAL = -1000;

    private static final String FILE_KEY = "warmpath.config-file";

    @Override
    public Iterable<ConfigSource> getConfigSources(ConfigSourceContext context) {
        List<ConfigSource> sources = new ArrayList<>();
        SettingCatalog catalog = SettingCatalog.read();
        sources.add(new EnvironmentAliases(catalog, System.getenv()));
        sources.add(defaults(catalog));
        ConfigValue file = context.getValue(FILE_KEY);
        if (file != null && file.getValue() != null) {
            sources.add(file(Path.of(file.getValue())));
        }
        return sources;
    }

    /**
     * The defaults as a source of their own: settings of the runtime that are written as {@code
     * ${warmpath...}} need them even where the mapping is not registered.
     */
    private static ConfigSource defaults(SettingCatalog catalog) {
        Map<String, String> defaults = new HashMap<>();
        for (SettingKey key : catalog.keys()) {
            if (key.isPlain() && key.defaultValue() != null) {
                defaults.put(key.name(), key.defaultValue());
            }
        }
        return new PropertiesConfigSource(defaults, "defaults", DEFAULTS_ORDINAL);
    }

    /**
     * Reads a YAML file.
     *
     * @throws UncheckedIOException when it cannot be read
     * @throws IllegalArgumentException when it is not YAML
     */
    static ConfigSource file(Path path) {
        try {
            String text = Files.readString(path);
            return new YamlConfigSource(path.toString(), text, FILE_ORDINAL);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(path + " is not valid YAML: " + e.getMessage(), e);
        }
    }
}
