package io.warmpath.tokens.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Python's sorted(): stable, by {@code <} of Python's values, which may fail. */
final class Sorting {
    private Sorting() {}

    static List<Object> sorted(List<Object> items, boolean reverse, Run run) {
        return sorted(items, UnaryOperator.identity(), reverse, run);
    }

    static List<Object> sorted(
            List<Object> items, UnaryOperator<Object> key, boolean reverse, Run run) {
        Object[][] keyed = new Object[items.size()][];
        for (int i = 0; i < keyed.length; i++) {
            // Reversed before and after, so that equal ones keep their order.
            Object item = items.get(reverse ? keyed.length - 1 - i : i);
            keyed[i] = new Object[] {key.apply(item), item};
        }
        sort(keyed, 0, keyed.length, new Object[keyed.length][], run);
        List<Object> out = new ArrayList<>(keyed.length);
        for (Object[] pair : keyed) {
            out.add(pair[1]);
        }
        return reverse ? new ArrayList<>(out.reversed()) : out;
    }

    private static void sort(Object[][] a, int from, int to, Object[][] scratch, Run run) {
        if (to - from < 2) {
            return;
        }
        int middle = (from + to) >>> 1;
        sort(a, from, middle, scratch, run);
        sort(a, middle, to, scratch, run);
        System.arraycopy(a, from, scratch, from, to - from);
        int left = from;
        int right = middle;
        for (int i = from; i < to; i++) {
            boolean takeRight = left == middle;
            if (left < middle && right < to) {
                run.step();
                takeRight = Values.ordered("<", scratch[right][0], scratch[left][0], run);
            }
            a[i] = takeRight ? scratch[right++] : scratch[left++];
        }
    }
}
