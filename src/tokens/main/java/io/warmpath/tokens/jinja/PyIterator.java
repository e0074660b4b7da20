package io.warmpath.tokens.jinja;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A sequence that is made while it is read, once: what map, select and their like give. */
final class PyIterator {
    /** Gives the next value, or null at the end; is not called again after that. */
    interface Source {
        @Nullable Object next();
    }

    private final Source source;
    private boolean ended;

    PyIterator(Source source) {
        this.source = source;
    }

    @Nullable Object next() {
        if (ended) {
            return null;
        }
        Object value = source.next();
        ended = value == null;
        return value;
    }

    List<Object> rest(Run run) {
        List<Object> all = new ArrayList<>();
        for (Object value = next(); value != null; value = next()) {
            run.step();
            all.add(value);
        }
        return all;
    }

    static PyIterator over(Iterable<?> items) {
        Iterator<?> it = items.iterator();
        return new PyIterator(() -> it.hasNext() ? it.next() : null);
    }
}
