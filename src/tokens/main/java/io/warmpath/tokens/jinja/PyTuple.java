package io.warmpath.tokens.jinja;

import java.util.List;

/** A Python tuple; a Python list is a {@link List}. Immutable. */
record PyTuple(List<Object> items) {
    static PyTuple of(Object... items) {
        return new PyTuple(List.of(items));
    }
}
