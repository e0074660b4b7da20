package io.warmpath.tokens.jinja;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The variable {@code loop}. Looks one element ahead, and only when asked to. */
final class LoopContext {
    private final Object over;
    private final Run run;
    private PyIterator items;
    private long index0 = -1;
    private int length = -1;
    private @Nullable Object after;
    private @Nullable Object current;
    private @Nullable Object before;
    private @Nullable List<Object> changed;

    /** {@code over}: what knows its length, or {@code items} again. */
    LoopContext(Object over, PyIterator items, Run run) {
        this.over = over;
        this.items = items;
        this.run = run;
    }

    @Nullable Object next() {
        Object value = after != null ? after : items.next();
        after = null;
        if (value != null) {
            index0++;
            before = current;
            current = value;
        }
        return value;
    }

    private @Nullable Object peek() {
        if (after == null) {
            after = items.next();
        }
        return after;
    }

    long index() {
        return index0 + 1;
    }

    int length() {
        if (length < 0) {
            length = over instanceof PyIterator ? -1 : Values.length(over, run);
            if (length < 0) {
                List<Object> rest = items.rest(run);
                length = (int) (rest.size() + index() + (after == null ? 0 : 1));
                items = PyIterator.over(rest);
            }
        }
        return length;
    }

    @Nullable Object attribute(String name) {
        return switch (name) {
            case "index0" -> index0;
            case "index" -> index();
            case "first" -> index0 == 0;
            case "last" -> peek() == null;
            case "length" -> (long) length();
            case "revindex0" -> length() - index();
            case "revindex" -> length() - index0;
            case "depth" -> 1L;
            case "depth0" -> 0L;
            case "previtem" -> {
                Object value = before;
                yield index0 == 0 || value == null
                        ? Undefined.because("there is no previous item")
                        : value;
            }
            case "nextitem" -> {
                Object value = peek();
                yield value == null ? Undefined.because("there is no next item") : value;
            }
            case "cycle", "changed" -> new BoundMethod(this, name);
            case "_iterable",
                    "_iterator",
                    "_undefined",
                    "_recurse",
                    "_length",
                    "_after",
                    "_current",
                    "_before",
                    "_last_changed_value",
                    "_peek_next",
                    "_to_iterator" ->
                    Undefined.unsafe(this, name);
            default -> null;
        };
    }

    Object call(String name, Arguments args) {
        if (!args.named().isEmpty()) {
            throw TemplateException.failed(name + "() takes no keyword arguments");
        }
        List<Object> values = args.positional();
        if (name.equals("cycle")) {
            if (values.isEmpty()) {
                throw TemplateException.failed("no items for cycling given");
            }
            return values.get((int) (index0 % values.size()));
        }
        List<Object> last = changed;
        boolean same = last != null && Values.equal(last, values, run);
        changed = new ArrayList<>(values);
        return !same;
    }
}
