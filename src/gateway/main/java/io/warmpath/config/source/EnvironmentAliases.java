package io.warmpath.config.source;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * Environment names other than {@code WARMPATH_...}, such as {@code DYN_HTTP_PORT}, as properties.
 *
 * <p>Weaker than the environment itself, stronger than files. Immutable.
 */
public final class EnvironmentAliases implements ConfigSource {
    /** Below 300, the environment. */
    public static final int ORDINAL = 290;

    private final Map<String, String> properties = new LinkedHashMap<>();
    private final Map<String, String> origins = new LinkedHashMap<>();

    public EnvironmentAliases(SettingCatalog catalog, Map<String, String> environment) {
        for (SettingKey key : catalog.keys()) {
            for (String alias : key.setting().env()) {
                int colon = alias.indexOf(':');
                String name = colon < 0 ? alias : alias.substring(0, colon);
                String value = environment.get(name);
                if (value != null && !value.isBlank() && !properties.containsKey(key.name())) {
                    String unit = colon < 0 ? "" : alias.substring(colon + 1);
                    boolean bare = value.strip().chars().allMatch(Character::isDigit);
                    properties.put(key.name(), bare ? value.strip() + unit : value);
                    origins.put(key.name(), name);
                }
            }
        }
    }

    /** The environment name that set this property, null when none did. */
    @Nullable String origin(String property) {
        return origins.get(property);
    }

    @Override
    public Set<String> getPropertyNames() {
        return properties.keySet();
    }

    @Override
    public @Nullable String getValue(String property) {
        return properties.get(property);
    }

    @Override
    public String getName() {
        return "environment aliases";
    }

    @Override
    public int getOrdinal() {
        return ORDINAL;
    }
}
