package io.warmpath.tokens.jinja;

import java.util.AbstractList;
import java.util.List;

/** What {@code keys()}, {@code values()} and {@code items()} of a dict give. */
record DictView(PyDict dict, Kind kind) {
    enum Kind {
        KEYS,
        VALUES,
        ITEMS
    }

    List<Object> list() {
        return new AbstractList<>() {
            @Override
            public Object get(int i) {
                return switch (kind) {
                    case KEYS -> dict.key(i);
                    case VALUES -> dict.value(i);
                    case ITEMS -> dict.pair(i);
                };
            }

            @Override
            public int size() {
                return dict.size();
            }
        };
    }
}
