package io.warmpath.config;

import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.ByteSize;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import io.warmpath.config.setting.SettingNotes;
import io.warmpath.config.setting.SettingTable;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the keys from {@link WarmpathConfig} and its {@link Setting}s: what {@link SettingTable}
 * has to have. Stateless.
 */
final class SettingReader {
    private static final Set<Class<?>> WHOLE =
            Set.of(int.class, long.class, Integer.class, Long.class);

    private static final Pattern CAPITAL = Pattern.compile("(?<=[a-z0-9])[A-Z]");

    private SettingReader() {}

    /**
     * Sorted by name.
     *
     * @throws IllegalStateException when a key has no {@link Setting}
     */
    static List<SettingKey> keys() {
        List<SettingKey> keys = new ArrayList<>();
        collect(WarmpathConfig.class, SettingCatalog.PREFIX, keys);
        // Reflection promises no order.
        keys.sort(Comparator.comparing(SettingKey::name));
        return keys;
    }

    private static void collect(Class<?> group, String prefix, List<SettingKey> into) {
        for (Class<?> part : group.getInterfaces()) {
            if (isGroup(part)) {
                collect(part, prefix, into);
            }
        }
        for (Method m : group.getDeclaredMethods()) {
            if (m.isSynthetic() || m.isDefault()) {
                continue;
            }
            String name = prefix + "." + hyphenated(m.getName());
            Type type = m.getGenericReturnType();
            Class<?> listed = argument(type, List.class, 0);
            Class<?> named = argument(type, Map.class, 1);
            if (m.getReturnType().isInterface() && isGroup(m.getReturnType())) {
                collect(m.getReturnType(), name, into);
            } else if (listed != null && isGroup(listed)) {
                collect(listed, name + "[*]", into);
            } else if (named != null && isGroup(named)) {
                collect(named, name + ".*", into);
            } else {
                into.add(key(m, type, name));
            }
        }
    }

    private static boolean isGroup(Class<?> type) {
        return type.isInterface()
                && type.getPackageName().startsWith(WarmpathConfig.class.getPackageName());
    }

    private static SettingKey key(Method m, Type type, String name) {
        Setting setting = m.getAnnotation(Setting.class);
        if (setting == null) {
            throw new IllegalStateException(name + " has no @Setting");
        }
        WithDefault fallback = m.getAnnotation(WithDefault.class);
        Class<?> inMap = argument(type, Map.class, 1);
        Class<?> value = inMap != null ? inMap : valueType(type);
        return new SettingKey(
                inMap != null ? name + ".*" : name,
                form(value, name),
                choices(value),
                fallback == null ? null : fallback.value(),
                fallback == null && !(type instanceof ParameterizedType),
                notes(setting));
    }

    /** The type inside an Optional or a list, or the type itself. */
    private static Class<?> valueType(Type type) {
        if (type instanceof ParameterizedType p) {
            return valueType(p.getActualTypeArguments()[0]);
        }
        return (Class<?>) type;
    }

    private static @Nullable Class<?> argument(Type type, Class<?> raw, int i) {
        return type instanceof ParameterizedType p
                        && p.getRawType() == raw
                        && p.getActualTypeArguments()[i] instanceof Class<?> c
                ? c
                : null;
    }

    private static SettingKey.Form form(Class<?> type, String name) {
        if (type == String.class) {
            return SettingKey.Form.TEXT;
        } else if (WHOLE.contains(type)) {
            return SettingKey.Form.WHOLE;
        } else if (type == double.class || type == Double.class) {
            return SettingKey.Form.NUMBER;
        } else if (type == boolean.class) {
            return SettingKey.Form.BOOLEAN;
        } else if (type == Duration.class) {
            return SettingKey.Form.DURATION;
        } else if (type == ByteSize.class) {
            return SettingKey.Form.SIZE;
        } else if (type.isEnum()) {
            return SettingKey.Form.CHOICE;
        }
        throw new IllegalStateException(name + " has a type without a form: " + type);
    }

    private static List<String> choices(Class<?> type) {
        if (!type.isEnum()) {
            return List.of();
        }
        return Arrays.stream(type.getEnumConstants())
                .map(c -> ((Enum<?>) c).name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .toList();
    }

    private static String hyphenated(String method) {
        return CAPITAL.matcher(method).replaceAll("-$0").toLowerCase(Locale.ROOT);
    }

    private static SettingNotes notes(Setting s) {
        return new SettingNotes(
                s.doc(),
                s.unset(),
                s.unit(),
                List.of(s.flags()),
                List.of(s.offFlags()),
                List.of(s.env()),
                s.min(),
                s.max(),
                s.minTime(),
                s.maxTime(),
                s.minSize(),
                s.maxSize(),
                s.secret());
    }
}
