package io.warmpath.config;

import io.smallrye.config.ConfigSourceContext;
import io.smallrye.config.ConfigSourceFactory;
import io.smallrye.config.ConfigValue;
import io.smallrye.config.source.yaml.YamlConfigSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.microprofile.config.spi.ConfigSource;

/**
 * Adds the file of {@code --config} and the environment aliases to every configuration of this
 * process; found by SmallRye Config as a service.
 */
public final class WarmpathSources implements ConfigSourceFactory {
    /** Below the aliases, above everything packed into the jar. */
    public static final int FILE_ORDINAL = 280;

    private static final String FILE_KEY = "warmpath.config-file";

    @Override
    public Iterable<ConfigSource> getConfigSources(ConfigSourceContext context) {
        List<ConfigSource> sources = new ArrayList<>();
        sources.add(new EnvironmentAliases(SettingCatalog.read(), System.getenv()));
        ConfigValue file = context.getValue(FILE_KEY);
        if (file != null && file.getValue() != null) {
            sources.add(file(Path.of(file.getValue())));
        }
        return sources;
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
