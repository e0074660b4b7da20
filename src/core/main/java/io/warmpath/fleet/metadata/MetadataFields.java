package io.warmpath.fleet.metadata;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Members of a JSON object, each checked as it is read; null counts as absent. One thread. JSON
 * comes as Java's own: maps, strings, numbers, booleans.
 */
final class MetadataFields {
    private final String path;
    private final Map<?, ?> fields;

    /** Throws {@link MetadataException} when it is no object, or has a member that is not known. */
    MetadataFields(String path, @Nullable Object json, Set<String> known) {
        if (!(json instanceof Map<?, ?> map)) {
            throw new MetadataException(path, "must be an object");
        }
        this.path = path;
        this.fields = map;
        for (Object name : map.keySet()) {
            if (!known.contains(String.valueOf(name))) {
                throw new MetadataException(
                        path + "." + name, "is not known; known are " + new TreeSet<>(known));
            }
        }
    }

    String text(String name) {
        Object value = fields.get(name);
        if (value == null) {
            return "";
        }
        if (!(value instanceof String text)) {
            throw wrong(name, "must be a string");
        }
        return text;
    }

    boolean flag(String name) {
        Object value = fields.get(name);
        if (value == null) {
            return false;
        }
        if (!(value instanceof Boolean flag)) {
            throw wrong(name, "must be true or false");
        }
        return flag;
    }

    /** A whole number from 1 to {@code max}. */
    int number(String name, int otherwise, int max) {
        Object value = fields.get(name);
        if (value == null) {
            return otherwise;
        }
        if (!(value instanceof Number n)
                || n.doubleValue() != n.longValue()
                || n.longValue() < 1
                || n.longValue() > max) {
            throw wrong(name, "must be a whole number from 1 to " + max);
        }
        return n.intValue();
    }

    /** As {@link #number}, for one that must be there. */
    int needed(String name, int max) {
        if (fields.get(name) == null) {
            throw wrong(name, "is missing");
        }
        return number(name, 1, max);
    }

    MetadataException wrong(String name, String what) {
        return new MetadataException(path + "." + name, what);
    }
}
