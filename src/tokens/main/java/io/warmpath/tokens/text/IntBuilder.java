package io.warmpath.tokens.text;

import java.util.Arrays;

/** A growing int array. One thread. */
final class IntBuilder {
    private int[] values;
    private int size;

    IntBuilder(int capacity) {
        values = new int[capacity];
    }

    void add(int value) {
        reserve(1);
        values[size++] = value;
    }

    void addAll(int[] more) {
        reserve(more.length);
        System.arraycopy(more, 0, values, size, more.length);
        size += more.length;
    }

    int[] toArray() {
        return Arrays.copyOf(values, size);
    }

    private void reserve(int more) {
        if (values.length - size < more) {
            values = Arrays.copyOf(values, Math.max(size + more, size + (size >> 1) + 16));
        }
    }
}
