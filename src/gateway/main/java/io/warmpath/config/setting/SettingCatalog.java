package io.warmpath.config.setting;

import io.warmpath.config.WarmpathConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** All keys of {@link WarmpathConfig}, with their {@link Setting}s. Immutable. */
public final class SettingCatalog {
    /** First part of every key. */
    public static final String PREFIX = "warmpath";

    private static final Pattern INDEX = Pattern.compile("\\[\\d+]");

    /** Read when first asked for; every configuration of the process asks. */
    private static final class Once {
        static final SettingCatalog CATALOG = new SettingCatalog(SettingTable.read());
    }

    private final List<SettingKey> keys;

    // Asked once for every property of a start, when nothing is compiled yet.
    private final Map<String, SettingKey> byName;
    private final List<SettingKey> withNames;

    public SettingCatalog(List<SettingKey> keys) {
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

    /**
     * The property as its key is written: underscores of the key's own words as dashes, names of
     * models and the like as they are. Empty for what is no key.
     */
    public Optional<String> canonical(String property) {
        if (find(property).isPresent()) {
            return Optional.of(property);
        }
        List<String> parts = parts(property);
        return keys.stream()
                .map(k -> canonical(parts, k.name().split("\\.", -1)))
                .filter(name -> !name.isEmpty())
                .findFirst();
    }

    /** Empty when the key is another one. */
    private static String canonical(List<String> parts, String[] key) {
        if (parts.size() != key.length) {
            return "";
        }
        List<String> name = new ArrayList<>(key.length);
        for (int i = 0; i < key.length; i++) {
            String part = parts.get(i);
            int bracket = part.indexOf('[');
            String word = bracket < 0 ? part : part.substring(0, bracket);
            if (key[i].equals("*")) {
                name.add(part);
            } else if (word.replace('_', '-').equals(key[i].replace("[*]", ""))) {
                name.add(word.replace('_', '-') + part.substring(word.length()));
            } else {
                return "";
            }
        }
        return String.join(".", name);
    }

    /** Between the dots; those in quotes separate nothing. */
    private static List<String> parts(String property) {
        List<String> parts = new ArrayList<>();
        int start = 0;
        boolean quoted = false;
        for (int i = 0; i < property.length(); i++) {
            char c = property.charAt(i);
            quoted ^= c == '"';
            if (c == '.' && !quoted) {
                parts.add(property.substring(start, i));
                start = i + 1;
            }
        }
        parts.add(property.substring(start));
        return parts;
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
}
