package io.warmpath.config;

import io.smallrye.config.WithDefault;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** All keys, read once from {@link WarmpathConfig} and its {@link Setting}s. Immutable. */
public final class SettingCatalog {
    /** First part of every key. */
    public static final String PREFIX = "warmpath";

    private static final Set<Class<?>> WHOLE =
            Set.of(int.class, long.class, Integer.class, Long.class);

    private static final Pattern INDEX = Pattern.compile("\\[\\d+]");
    private static final Pattern CAPITAL = Pattern.compile("(?<=[a-z0-9])[A-Z]");

    /** Read when first asked for; every configuration of the process asks. */
    private static final class Once {
        static final SettingCatalog CATALOG = fresh();
    }

    private final List<SettingKey> keys;

    // Asked once for every property of a start, when nothing is compiled yet.
    private final Map<String, SettingKey> byName;
    private final List<SettingKey> withNames;

    private SettingCatalog(List<SettingKey> keys) {
        this.keys = List.copyOf(keys);
        byName = HashMap.newHashMap(keys.size());
        withNames = new ArrayList<>();
        for (SettingKey k : keys) {
            byName.put(k.name(), k);
            if (k.name().contains(".*")) {
                withNames.add(k);
            }
        }
    }

    /** The one of this process. */
    public static SettingCatalog read() {
        return Once.CATALOG;
    }

    /**
     * @throws IllegalStateException when a key has no {@link Setting}
     */
    private static SettingCatalog fresh() {
        List<SettingKey> keys = new ArrayList<>();
        collect(WarmpathConfig.class, PREFIX, keys);
        // Reflection promises no order.
        keys.sort(Comparator.comparing(SettingKey::name));
        return new SettingCatalog(keys);
    }

    /** Sorted by name. */
    public List<SettingKey> keys() {
        return keys;
    }

    /** The key that a property name belongs to: indexes and map names become {@code *}. */
    public Optional<SettingKey> find(String property) {
        String name =
                property.indexOf('[') < 0 ? property : INDEX.matcher(property).replaceAll("[*]");
        SettingKey exact = byName.getOrDefault(name, byName.get(ofList(name)));
        if (exact != null) {
            return Optional.of(exact);
        }
        for (SettingKey k : withNames) {
            int names = k.name().indexOf(".*.");
            if (names >= 0 && isEntry(ofList(name), k.name(), names)) {
                return Optional.of(k);
            }
            if (k.name().endsWith(".*")
                    && name.startsWith(k.name().substring(0, k.name().length() - 1))) {
                return Optional.of(k);
            }
        }
        return Optional.empty();
    }

    /** {@code a[*]}, an entry of the list {@code a}, as {@code a}. */
    private static String ofList(String name) {
        return name.endsWith("[*]") ? name.substring(0, name.length() - 3) : name;
    }

    /** {@code models."a.b".load-factor} for the key {@code models.*.load-factor}. */
    private static boolean isEntry(String name, String key, int names) {
        String head = key.substring(0, names + 1);
        String tail = key.substring(names + 2);
        if (!name.startsWith(head)
                || !name.endsWith(tail)
                || name.length() <= head.length() + tail.length()) {
            return false;
        }
        String entry = name.substring(head.length(), name.length() - tail.length());
        boolean quoted = entry.length() > 2 && entry.startsWith("\"") && entry.endsWith("\"");
        return quoted || !entry.contains(".");
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
                && type.getPackageName().equals(WarmpathConfig.class.getPackageName());
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
                setting);
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
}
