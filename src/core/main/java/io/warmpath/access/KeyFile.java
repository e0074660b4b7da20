package io.warmpath.access;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The file of API keys, already parsed into maps and lists. Every member must be known; an error
 * names its place and never repeats a value that could be a key. Stateless.
 */
public final class KeyFile {
    private static final Set<String> MEMBERS =
            Set.of(
                    ("name sha256 tenant names-tenants models requests-per-minute tokens-per-minute"
                                    + " policy-class weight direct-api hand-off explain expires")
                            .split(" ", -1));

    private KeyFile() {}

    /**
     * @throws IllegalArgumentException that says what is wrong and where
     */
    public static List<KeyRecord> read(@Nullable Object document) {
        if (!(document instanceof Map<?, ?> root)
                || !Set.of("keys").equals(root.keySet())
                || !(root.get("keys") instanceof List<?> keys)) {
            throw new IllegalArgumentException("it must have one member, `keys`, a list");
        }
        List<KeyRecord> records = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (int i = 0; i < keys.size(); i++) {
            String at = "keys[" + i + "]";
            if (!(keys.get(i) instanceof Map<?, ?> members)) {
                throw new IllegalArgumentException(at + " must have members, `name` and others");
            }
            KeyRecord record = record(members, at);
            if (!names.add(record.grant().name())) {
                throw new IllegalArgumentException(
                        at + ": there is another key named `" + record.grant().name() + "`");
            }
            records.add(record);
        }
        return records;
    }

    private static KeyRecord record(Map<?, ?> m, String at) {
        for (Object member : m.keySet()) {
            if (!(member instanceof String s) || !MEMBERS.contains(s)) {
                throw new IllegalArgumentException(at + "." + member + " is not known");
            }
        }
        try {
            Grant grant =
                    new Grant(
                            text(m, "name", at),
                            m.containsKey("tenant") ? text(m, "tenant", at) : "",
                            flag(m, "names-tenants", at),
                            models(m, at),
                            whole(m, "requests-per-minute", at),
                            whole(m, "tokens-per-minute", at),
                            m.containsKey("policy-class") ? text(m, "policy-class", at) : "",
                            weight(m, at),
                            flag(m, "direct-api", at),
                            flag(m, "hand-off", at),
                            flag(m, "explain", at));
            return new KeyRecord(hash(text(m, "sha256", at), at), grant, expires(m, at));
        } catch (IllegalArgumentException e) {
            String said = String.valueOf(e.getMessage());
            throw said.startsWith(at) ? e : new IllegalArgumentException(at + ": " + said, e);
        }
    }

    private static KeyHash hash(String hex, String at) {
        try {
            return KeyHash.ofHex(hex);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(at + ".sha256: " + e.getMessage(), e);
        }
    }

    private static String text(Map<?, ?> m, String name, String at) {
        // A number is a name too; one of sha256's digits alone is most unlikely.
        Object value = m.get(name);
        if (value instanceof String s && !s.isBlank()) {
            return s.strip();
        }
        if (value instanceof Number n && !name.equals("sha256")) {
            return n.toString();
        }
        throw new IllegalArgumentException(at + "." + name + " must be a text");
    }

    private static boolean flag(Map<?, ?> m, String name, String at) {
        Object value = m.containsKey(name) ? m.get(name) : (Object) false;
        if (value instanceof Boolean b) {
            return b;
        }
        throw new IllegalArgumentException(at + "." + name + " must be true or false");
    }

    private static long whole(Map<?, ?> m, String name, String at) {
        Object value = m.containsKey(name) ? m.get(name) : Integer.valueOf(0);
        if (value instanceof Integer || value instanceof Long) {
            return ((Number) value).longValue();
        }
        throw new IllegalArgumentException(at + "." + name + " must be a whole number");
    }

    private static int weight(Map<?, ?> m, String at) {
        return m.containsKey("weight")
                ? Math.clamp(whole(m, "weight", at), 0, Grant.MAX_WEIGHT + 1)
                : 1;
    }

    private static List<String> models(Map<?, ?> m, String at) {
        Object value = m.containsKey("models") ? m.get("models") : List.of();
        if (!(value instanceof List<?> list) || !list.stream().allMatch(String.class::isInstance)) {
            throw new IllegalArgumentException(at + ".models must be a list of names");
        }
        if (m.containsKey("models") && list.isEmpty()) {
            throw new IllegalArgumentException(
                    at + ".models is empty; leave it out to allow all models");
        }
        return list.stream().map(String.class::cast).toList();
    }

    private static @Nullable Instant expires(Map<?, ?> m, String at) {
        return switch (m.get("expires")) {
            case null -> null;
            case java.util.Date date -> date.toInstant(); // YAML has times of its own
            case String text -> {
                try {
                    yield Instant.parse(text.strip());
                } catch (DateTimeException e) {
                    throw new IllegalArgumentException(
                            at + ".expires must be a time such as 2027-01-31T00:00:00Z", e);
                }
            }
            default ->
                    throw new IllegalArgumentException(
                            at + ".expires must be a time such as 2027-01-31T00:00:00Z");
        };
    }
}
