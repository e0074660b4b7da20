package io.warmpath.tokens.jinja;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Arguments of one call, evaluated. */
record Arguments(List<Object> positional, Map<String, Object> named) {
    static final Arguments NONE = new Arguments(List.of(), Map.of());

    /** Matched with a function's parameters; null where nothing was given. */
    static final class Bound {
        private final @Nullable Object[] values;

        private Bound(@Nullable Object[] values) {
            this.values = values;
        }

        Object or(int i, Object otherwise) {
            Object value = values[i];
            return value == null ? otherwise : value;
        }

        boolean has(int i) {
            return values[i] != null;
        }
    }

    /**
     * @param required how many of the first parameters have no default
     * @param params names; those that begin with '/' can only be given by position
     */
    Bound bind(String function, int required, String... params) {
        if (positional.size() > params.length) {
            throw TemplateException.failed(
                    function + "() takes at most " + params.length + " arguments");
        }
        @Nullable Object[] values = new @Nullable Object[params.length];
        for (int i = 0; i < positional.size(); i++) {
            values[i] = positional.get(i);
        }
        for (Map.Entry<String, Object> e : named.entrySet()) {
            int at = List.of(params).indexOf(e.getKey());
            if (at < 0) {
                throw TemplateException.failed(
                        function + "() got an unexpected keyword argument '" + e.getKey() + "'");
            }
            if (values[at] != null) {
                throw TemplateException.failed(
                        function + "() got multiple values for argument '" + e.getKey() + "'");
            }
            values[at] = e.getValue();
        }
        for (int i = 0; i < required; i++) {
            if (values[i] == null) {
                throw TemplateException.failed(
                        function + "() is missing its argument '" + params[i] + "'");
            }
        }
        return new Bound(values);
    }

    Arguments withoutFirst(int n) {
        return new Arguments(positional.subList(n, positional.size()), named);
    }

    Arguments with(String name, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(named);
        more.put(name, value);
        return new Arguments(positional, more);
    }
}
