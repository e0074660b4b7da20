package io.warmpath.config.source;

import io.smallrye.config.ConfigSourceContext;
import io.smallrye.config.ConfigSourceFactory;
import io.smallrye.config.ConfigValue;
import io.smallrye.config.source.yaml.YamlConfigSource;
import io.warmpath.config.setting.SettingCatalog;
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
    public static ConfigSource file(Path path) {
        try {
            return yaml(path.toString(), Files.readString(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The text of a file.
     *
     * @param name of the file, for messages
     * @throws IllegalArgumentException when it is not YAML
     */
    public static ConfigSource yaml(String name, String text) {
        try {
            return new ConfigFile(
                    name, SettingCatalog.read(), new YamlConfigSource(name, text).getProperties());
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(name + " is not valid YAML: " + e.getMessage(), e);
        }
    }
}
