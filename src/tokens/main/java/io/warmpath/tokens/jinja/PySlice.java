package io.warmpath.tokens.jinja;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** The numbers of a slice; null where none is given. */
record PySlice(@Nullable Long start, @Nullable Long stop, @Nullable Long step) {
    /** Clipped to a sequence: from start, step by step, until stop is reached or passed. */
    record Bounds(int start, int stop, int step) {
        int count() {
            return step > 0
                    ? Math.max(0, (stop - start + step - 1) / step)
                    : Math.max(0, (start - stop - step - 1) / -step);
        }
    }

    static PySlice of(Object start, Object stop, Object step) {
        return new PySlice(number(start), number(stop), number(step));
    }

    private static @Nullable Long number(Object value) {
        return switch (value) {
            case None none -> null;
            case Long n -> n;
            case Boolean b -> b ? 1L : 0L;
            case BigInteger n -> n.signum() > 0 ? Long.MAX_VALUE : Long.MIN_VALUE;
            case Undefined u ->
                    throw TemplateException.failed(
                            "slice indices must be integers or None or have an __index__ method");
            default ->
                    throw TemplateException.failed(
                            "slice indices must be integers or None or have an __index__ method");
        };
    }

    Bounds bounds(int length) {
        long by = step == null ? 1 : step;
        if (by == 0) {
            throw TemplateException.failed("slice step cannot be zero");
        }
        // Steps longer than the sequence are all alike.
        int step = (int) Math.max(-length - 1L, Math.min(length + 1L, by));
        int low = step > 0 ? 0 : -1;
        int high = step > 0 ? length : length - 1;
        int from = start == null ? (step > 0 ? low : high) : clip(start, length, low, high);
        int to = stop == null ? (step > 0 ? high : low) : clip(stop, length, low, high);
        return new Bounds(from, to, step);
    }

    private static int clip(long index, int length, int low, int high) {
        long i = index < 0 ? index + length : index;
        return (int) Math.max(low, Math.min(high, i));
    }
}
