package io.warmpath.config.source;

import io.smallrye.config.common.MapBackedConfigSource;
import io.warmpath.config.setting.SettingCatalog;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The file of {@code --config}, with its keys as {@link SettingCatalog} writes them. In the file
 * the level {@code warmpath} may be left out and words be joined by underscores; {@code
 * routing.policy} is {@code router.mode}. What is no key keeps its name. Immutable.
 */
final class ConfigFile extends MapBackedConfigSource {
    /** Below the aliases, above everything packed into the jar. */
    static final int ORDINAL = 280;

    private static final String PREFIX = SettingCatalog.PREFIX + ".";

    /** First parts of keys of the runtime underneath and of connectors. */
    private static final List<String> UNDERNEATH =
            List.of("quarkus.", "mp.messaging.", "kafka.", "amqp-");

    /** Keys that go by another name, too. */
    private static final Map<String, String> ALSO =
            Map.of(PREFIX + "routing.policy", PREFIX + "router.mode");

    private final List<String> problems;

    /**
     * @param name of the file, for messages
     * @param written its values by their keys as they stand there
     */
    ConfigFile(String name, SettingCatalog catalog, Map<String, String> written) {
        List<String> wrong = new ArrayList<>();
        Map<String, String> properties = new LinkedHashMap<>();
        Map<String, String> spelt = new LinkedHashMap<>();
        new TreeMap<>(written)
                .forEach(
                        (key, value) -> {
                            String canonical = canonical(catalog, key);
                            String other = spelt.put(canonical, key);
                            if (other != null) {
                                wrong.add(
                                        ("%s and %s (from %s) are one key; leave one of them"
                                                        + " out.")
                                                .formatted(key, other, name));
                            }
                            properties.put(canonical, value);
                            if (!canonical.startsWith(PREFIX)) {
                                stranger(name, catalog, key).ifPresent(wrong::add);
                            }
                        });
        problems = List.copyOf(wrong);
        super(name, properties, ORDINAL);
    }

    private static String canonical(SettingCatalog catalog, String key) {
        String full = full(key);
        String also = ALSO.get(full.replace('_', '-'));
        return also != null ? also : catalog.canonical(full).orElse(key);
    }

    private static String full(String key) {
        return key.startsWith(PREFIX) ? key : PREFIX + key;
    }

    private static Optional<String> stranger(String name, SettingCatalog catalog, String key) {
        if (key.startsWith("\"" + PREFIX)) {
            // YAML takes a key with dots as one name, so it would set nothing.
            return Optional.of(
                    "%s (from %s) must be written nested, one level per line."
                            .formatted(key.replace("\"", ""), name));
        }
        return UNDERNEATH.stream().anyMatch(key::startsWith)
                ? Optional.empty()
                : Optional.of(
                        key + " (from " + name + ") is not a known key." + hint(catalog, key));
    }

    /** The key that was probably meant, in the writer's own manner; or where all of them stand. */
    static String hint(SettingCatalog catalog, String key) {
        List<String> known = new ArrayList<>(ALSO.keySet());
        catalog.keys().forEach(k -> known.add(k.name()));
        boolean underscores = key.contains("_") && !key.contains("-");
        return Nearest.to(full(key).replaceAll("\\[\\d+]", "[*]").replace('_', '-'), known)
                .map(k -> key.startsWith(PREFIX) ? k : k.substring(PREFIX.length()))
                .map(k -> " Did you mean " + (underscores ? k.replace('-', '_') : k) + "?")
                .orElse(" `serve --help all` lists all keys.");
    }

    /** What is wrong with its keys, in sentences. */
    List<String> problems() {
        return problems;
    }
}
