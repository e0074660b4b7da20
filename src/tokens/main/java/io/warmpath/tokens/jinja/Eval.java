package io.warmpath.tokens.jinja;

import org.jspecify.annotations.Nullable;

/** An expression, ready to be evaluated. Immutable. */
@FunctionalInterface
interface Eval {
    Object eval(Activation a);

    /** Writes the value's text. */
    default void print(Activation a, StringBuilder out) {
        write(eval(a), a.run, out);
    }

    static void write(Object value, Run run, StringBuilder out) {
        int before = out.length();
        switch (value) {
            case String s -> out.append(s);
            case Undefined u -> {}
            case Markup m -> out.append(m.text());
            default -> Repr.write(value, out, 0);
        }
        run.make(out.length() - before);
    }

    /** {@code a + b + c}: texts are put together once, not pair by pair. */
    record Sum(Eval[] parts) implements Eval {
        @Override
        public Object eval(Activation a) {
            Object sum = parts[0].eval(a);
            StringBuilder text = null;
            for (int i = 1; i < parts.length; i++) {
                Object next = parts[i].eval(a);
                if (next instanceof String s && (text != null || sum instanceof String)) {
                    text = text == null ? new StringBuilder(Values.text(sum)) : text;
                    a.run.make(s.length());
                    text.append(s);
                    continue;
                }
                sum = Ops.add(text == null ? sum : text.toString(), next, a.run);
                text = null;
            }
            return text == null ? sum : text.toString();
        }

        @Override
        public void print(Activation a, StringBuilder out) {
            int start = out.length();
            @Nullable Object sum = null; // null: what was written since start
            for (int i = 0; i < parts.length; i++) {
                Object next = parts[i].eval(a);
                if (next instanceof String s && sum == null) {
                    a.run.make(s.length());
                    out.append(s);
                } else if (i == 0) {
                    sum = next;
                } else {
                    Object left = sum != null ? sum : out.substring(start);
                    out.setLength(start);
                    sum = Ops.add(left, next, a.run);
                }
            }
            if (sum != null) {
                write(sum, a.run, out);
            }
        }
    }

    /** {@code a ~ b ~ c}. */
    record Concat(Eval[] parts) implements Eval {
        @Override
        public Object eval(Activation a) {
            StringBuilder out = new StringBuilder();
            print(a, out);
            return out.toString();
        }

        @Override
        public void print(Activation a, StringBuilder out) {
            for (Eval part : parts) {
                write(part.eval(a), a.run, out);
            }
        }
    }
}
