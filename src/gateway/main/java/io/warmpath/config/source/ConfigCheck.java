package io.warmpath.config.source;

import io.smallrye.config.ConfigValue;
import io.smallrye.config.SmallRyeConfig;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/** Finds unknown keys and values out of range before anything starts. Stateless. */
public final class ConfigCheck {
    private ConfigCheck() {}

    /** One sentence per problem, none when the configuration is sound. */
    public static List<String> problems(SettingCatalog catalog, SmallRyeConfig config) {
        List<String> problems = new ArrayList<>();
        Set<String> names = names(catalog, config);
        for (String property : names) {
            SettingKey key = catalog.find(property).orElse(null);
            if (key == null) {
                problems.add(unknown(catalog, config, property));
                continue;
            }
            ConfigValue value = config.getConfigValue(property);
            String text = value.getValue();
            // An empty value unsets a key, by the rule of MicroProfile Config.
            String problem = text == null || text.isEmpty() ? null : key.problem(text);
            if (problem != null) {
                problems.add(
                        property
                                + (key.setting().secret() ? "" : " = " + text)
                                + " (from "
                                + origin(config, value)
                                + ") "
                                + problem
                                + ".");
            }
        }
        problems.addAll(missing(catalog, names));
        for (ConfigSource source : config.getConfigSources()) {
            if (source instanceof ConfigFile file) {
                problems.addAll(file.problems());
            }
        }
        return problems;
    }

    /** Keys that every entry of their list must have. */
    private static List<String> missing(SettingCatalog catalog, Set<String> names) {
        Set<String> missing = new TreeSet<>();
        for (SettingKey key : catalog.keys()) {
            int star = key.name().indexOf("[*]");
            if (!key.required() || star < 0) {
                continue;
            }
            Pattern entry =
                    Pattern.compile(Pattern.quote(key.name().substring(0, star)) + "\\[\\d+]");
            for (String name : names) {
                Matcher m = entry.matcher(name);
                String wanted = m.lookingAt() ? m.group() + key.name().substring(star + 3) : name;
                if (!names.contains(wanted)) {
                    missing.add(wanted + " is missing.");
                }
            }
        }
        return List.copyOf(missing);
    }

    /**
     * What is set. To ask for every key there is would take a part of each start that can be felt:
     * most keys are not set, and no source is quick to say so.
     */
    private static Set<String> names(SettingCatalog catalog, SmallRyeConfig config) {
        Set<String> listed = new LinkedHashSet<>();
        for (String name : config.getPropertyNames()) {
            if (name.startsWith(SettingCatalog.PREFIX + ".")) {
                listed.add(name);
            }
        }
        Set<String> names = new LinkedHashSet<>();
        // WARMPATH_HTTP_ACCEPT_BACKLOG is listed as warmpath.http.accept.backlog, and read when
        // asked for under the key's own name.
        Set<String> inEnvironment = new HashSet<>();
        for (SettingKey key : catalog.keys()) {
            String dotted = key.name().replace('-', '.');
            if (key.isPlain()) {
                inEnvironment.add(dotted);
                if (listed.contains(key.name()) || listed.contains(dotted)) {
                    names.add(key.name());
                }
            }
        }
        for (String name : listed) {
            if (!inEnvironment.contains(name)) {
                names.add(name);
            }
        }
        return names;
    }

    private static String unknown(SettingCatalog catalog, SmallRyeConfig config, String property) {
        return property
                + " (from "
                + origin(config, config.getConfigValue(property))
                + ") is not a known key."
                + ConfigFile.hint(catalog, property);
    }

    private static String origin(SmallRyeConfig config, ConfigValue value) {
        String source = Objects.requireNonNullElse(value.getConfigSourceName(), "defaults");
        String alias = alias(config, value.getName());
        if (source.equals("environment aliases") && alias != null) {
            return "the environment, " + alias;
        }
        if (source.startsWith("SysProp")) {
            return "the command line";
        }
        return source.startsWith("Env") ? "the environment" : source;
    }

    private static @Nullable String alias(SmallRyeConfig config, String property) {
        for (ConfigSource s : config.getConfigSources()) {
            if (s instanceof EnvironmentAliases aliases) {
                return aliases.origin(property);
            }
        }
        return null;
    }
}
