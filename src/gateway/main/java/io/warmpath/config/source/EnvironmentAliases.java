package io.warmpath.config.source;

import io.smallrye.config.common.MapBackedConfigSource;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Environment names other than {@code WARMPATH_...}, such as {@code DYN_HTTP_PORT}, as properties.
 * Weaker than the environment itself, stronger than files. Immutable.
 */
public final class EnvironmentAliases extends MapBackedConfigSource {
    /** Below 300, the environment. */
    public static final int ORDINAL = 290;

    private final Map<String, String> origins;

    public EnvironmentAliases(SettingCatalog catalog, Map<String, String> environment) {
        Map<String, String> properties = new LinkedHashMap<>();
        Map<String, String> found = new LinkedHashMap<>();
        for (SettingKey key : catalog.keys()) {
            for (String alias : key.setting().env()) {
                int colon = alias.indexOf(':');
                String name = colon < 0 ? alias : alias.substring(0, colon);
                String value = environment.get(name);
                if (value != null && !value.isBlank() && !properties.containsKey(key.name())) {
                    String unit = colon < 0 ? "" : alias.substring(colon + 1);
                    boolean bare = value.strip().chars().allMatch(Character::isDigit);
                    properties.put(key.name(), bare ? value.strip() + unit : value);
                    found.put(key.name(), name);
                }
            }
        }
        origins = found;
        super("environment aliases", properties, ORDINAL);
    }

    /** The environment name that set this property, null when none did. */
    @Nullable String origin(String property) {
        return origins.get(property);
    }
}
