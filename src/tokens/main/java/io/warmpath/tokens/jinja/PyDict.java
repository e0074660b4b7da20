package io.warmpath.tokens.jinja;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A Python dict: keeps the order of its keys, takes 1, 1.0 and true for one key. Grows and is then
 * only read: templates cannot change one. Small ones are searched in order, larger ones by hash.
 */
final class PyDict {
    private static final int SEARCHED = 8;

    private Object[] hashed = new Object[4];
    private Object[] values = new Object[4];

    /** Keys as they were given, where that is not how they are compared; else null. */
    private Object @Nullable [] originals;

    private @Nullable Map<Object, Integer> index;
    private int size;

    int size() {
        return size;
    }

    Object key(int i) {
        return originals == null ? hashed[i] : originals[i];
    }

    Object value(int i) {
        return values[i];
    }

    List<Object> keys() {
        return Arrays.asList(Arrays.copyOf(originals == null ? hashed : originals, size));
    }

    PyTuple pair(int i) {
        return PyTuple.of(key(i), value(i));
    }

    PyDict put(Object key, Object value) {
        Object hash = hashed(key);
        int at = find(hash);
        if (at >= 0) {
            values[at] = value;
            return this;
        }
        if (size == hashed.length) {
            hashed = Arrays.copyOf(hashed, size * 2);
            values = Arrays.copyOf(values, size * 2);
            originals = originals == null ? null : Arrays.copyOf(originals, size * 2);
        }
        if (hash != key && originals == null) {
            originals = Arrays.copyOf(hashed, hashed.length);
        }
        if (originals != null) {
            originals[size] = key;
        }
        hashed[size] = hash;
        values[size] = value;
        size++;
        if (index != null) {
            index.put(hash, size - 1);
        } else if (size > SEARCHED) {
            index = new HashMap<>();
            for (int i = 0; i < size; i++) {
                index.put(hashed[i], i);
            }
        }
        return this;
    }

    private int find(Object hash) {
        if (index != null) {
            return index.getOrDefault(hash, -1);
        }
        for (int i = 0; i < size; i++) {
            if (hashed[i].equals(hash)) {
                return i;
            }
        }
        return -1;
    }

    /** The value, or null when there is none; fails for a key that has no hash. */
    @Nullable Object get(Object key) {
        int at = find(hashed(key));
        return at < 0 ? null : values[at];
    }

    /** What a key is compared by. */
    static Object hashed(Object key) {
        return switch (key) {
            case String s -> s;
            case Markup m -> m.text();
            case Boolean b -> b ? 1L : 0L;
            case Double d -> PyNumbers.integral(d);
            case PyTuple t when t.items().size() > 100 ->
                    throw TemplateException.unsupported("a tuple of over 100 elements as a key");
            case PyTuple t -> t.items().stream().map(PyDict::hashed).toList();
            case List<?> list -> throw unhashable("list");
            case PyDict dict -> throw unhashable("dict");
            case Undefined u -> Undefined.class;
            default -> key;
        };
    }

    private static TemplateException unhashable(String type) {
        return TemplateException.failed("unhashable type: '" + type + "'");
    }
}
