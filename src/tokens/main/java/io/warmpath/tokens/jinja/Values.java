package io.warmpath.tokens.jinja;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What Python does with any value: truth, text, equality, order, length, iteration, containment.
 * Values are String, Long, BigInteger, Double, Boolean, {@link None}, List (Python's list), {@link
 * PyDict} and the other types of this package; never null.
 */
final class Values {
    private static final int MAX_DEPTH = 200;

    private Values() {}

    /** Java's maps, lists, numbers and null as values. */
    static Object of(@Nullable Object java) {
        return of(java, 0);
    }

    private static Object of(@Nullable Object java, int depth) {
        if (depth > MAX_DEPTH) {
            throw TemplateException.failed("an input is nested over " + MAX_DEPTH + " levels");
        }
        return switch (java) {
            case null -> None.NONE;
            case String s -> s;
            case Boolean b -> b;
            case Long n -> n;
            case Integer n -> n.longValue();
            case Double d -> d;
            case BigInteger n -> PyNumbers.norm(n);
            case Map<?, ?> map -> {
                PyDict dict = new PyDict();
                map.forEach((k, v) -> dict.put(String.valueOf(k), of(v, depth + 1)));
                yield dict;
            }
            case List<?> list -> {
                List<Object> items = new ArrayList<>(list.size());
                list.forEach(item -> items.add(of(item, depth + 1)));
                yield items;
            }
            default ->
                    throw new IllegalArgumentException(
                            "no template value: " + java.getClass().getName());
        };
    }

    static String typeName(Object v) {
        return switch (v) {
            case String s -> "str";
            case Markup m -> "markupsafe.Markup";
            case Boolean b -> "bool";
            case Long n -> "int";
            case BigInteger n -> "int";
            case Double d -> "float";
            case None none -> "NoneType";
            case List<?> list -> "list";
            case PyTuple t -> "tuple";
            case PyDict dict -> "dict";
            case PyRange r -> "range";
            case DictView view ->
                    "dict_" + view.kind().toString().toLowerCase(java.util.Locale.ROOT);
            case PyIterator it -> "generator";
            case Undefined u -> "Undefined";
            case Namespace ns -> "jinja2.utils.Namespace";
            case LoopContext loop -> "jinja2.runtime.LoopContext";
            case MacroValue m -> "jinja2.runtime.Macro";
            case Callable c -> "function";
            default -> v.getClass().getSimpleName();
        };
    }

    static boolean truth(Object v) {
        return switch (v) {
            case Boolean b -> b;
            case String s -> !s.isEmpty();
            case None none -> false;
            case Undefined u -> false;
            case List<?> list -> !list.isEmpty();
            case PyDict dict -> dict.size() > 0;
            case Long n -> n != 0;
            case Double d -> d != 0;
            case Markup m -> !m.text().isEmpty();
            case PyTuple t -> !t.items().isEmpty();
            case PyRange r -> r.length() > 0;
            case DictView view -> view.dict().size() > 0;
            case LoopContext loop -> loop.length() > 0;
            default -> true;
        };
    }

    /** The text of a string; null for everything else. */
    static @Nullable String string(Object v) {
        return v instanceof String s ? s : v instanceof Markup m ? m.text() : null;
    }

    /** Python's str(). */
    static String text(Object v) {
        return switch (v) {
            case String s -> s;
            case Markup m -> m.text();
            case Undefined u -> "";
            default -> Repr.of(v);
        };
    }

    static boolean equal(Object a, Object b, Run run) {
        return equal(a, b, 0, run);
    }

    private static boolean equal(Object a, Object b, int depth, Run run) {
        if (a instanceof String x && b instanceof String y) {
            return x.equals(y);
        }
        if (depth > MAX_DEPTH) {
            throw TemplateException.failed("a value is nested over " + MAX_DEPTH + " levels");
        }
        if (PyNumbers.isNumber(a) && PyNumbers.isNumber(b)) {
            return PyNumbers.compare(a, b) == 0;
        }
        return switch (a) {
            case String s -> s.equals(string(b));
            case Markup m -> m.text().equals(string(b));
            case Undefined u -> b instanceof Undefined;
            case List<?> x -> b instanceof List<?> y && equal(x, y, depth, run);
            case PyTuple x -> b instanceof PyTuple y && equal(x.items(), y.items(), depth, run);
            case PyDict x -> b instanceof PyDict y && equal(x, y, depth, run);
            case PyRange x -> b instanceof PyRange y && x.same(y);
            case DictView x -> {
                if (b instanceof DictView && x.kind() != DictView.Kind.VALUES && a != b) {
                    throw TemplateException.unsupported("comparing views of dicts");
                }
                yield a == b;
            }
            case BoundMethod x -> b instanceof BoundMethod y && x.same(y);
            default -> a == b;
        };
    }

    private static boolean equal(List<?> a, List<?> b, int depth, Run run) {
        if (a.size() != b.size()) {
            return false;
        }
        for (int i = 0; i < a.size(); i++) {
            Object x = a.get(i);
            run.step();
            if (x != b.get(i) && !equal(x, b.get(i), depth + 1, run)) {
                return false;
            }
        }
        return true;
    }

    private static boolean equal(PyDict a, PyDict b, int depth, Run run) {
        if (a.size() != b.size()) {
            return false;
        }
        for (int i = 0; i < a.size(); i++) {
            Object other = b.get(a.key(i));
            run.step();
            if (other == null || !equal(a.value(i), other, depth + 1, run)) {
                return false;
            }
        }
        return true;
    }

    /** {@code a < b}, {@code <=}, {@code >}, {@code >=}. */
    static boolean ordered(String op, Object a, Object b, Run run) {
        if (PyNumbers.isNumber(a) && PyNumbers.isNumber(b)) {
            int c = PyNumbers.compare(a, b);
            return c != 2 && holds(op, c);
        }
        String x = string(a);
        String y = string(b);
        if (x != null && y != null) {
            return holds(op, codePointOrder(x, y));
        }
        if (a instanceof List<?> p && b instanceof List<?> q) {
            return ordered(op, p, q, run);
        }
        if (a instanceof PyTuple p && b instanceof PyTuple q) {
            return ordered(op, p.items(), q.items(), run);
        }
        if (a instanceof Undefined u) {
            throw u.fails();
        }
        if (b instanceof Undefined u) {
            throw u.fails();
        }
        if (a instanceof DictView && b instanceof DictView) {
            throw TemplateException.unsupported("comparing views of dicts");
        }
        throw TemplateException.failed(
                "'%s' not supported between instances of '%s' and '%s'"
                        .formatted(op, typeName(a), typeName(b)));
    }

    private static boolean ordered(String op, List<?> a, List<?> b, Run run) {
        int n = Math.min(a.size(), b.size());
        for (int i = 0; i < n; i++) {
            run.step();
            if (a.get(i) != b.get(i) && !equal(a.get(i), b.get(i), run)) {
                return ordered(op, a.get(i), b.get(i), run);
            }
        }
        return holds(op, Integer.compare(a.size(), b.size()));
    }

    private static boolean holds(String op, int order) {
        return switch (op) {
            case "<" -> order < 0;
            case "<=" -> order <= 0;
            case ">" -> order > 0;
            default -> order >= 0;
        };
    }

    /** UTF-16 order differs where surrogates meet the end of the first plane. */
    private static int codePointOrder(String a, String b) {
        int n = Math.min(a.length(), b.length());
        for (int i = 0; i < n; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                boolean mixed = Character.isSurrogate(x) != Character.isSurrogate(y);
                return mixed ? (Character.isSurrogate(x) ? 1 : -1) : x - y;
            }
        }
        return a.length() - b.length();
    }

    /** len(), or -1 when the value has none. */
    static int length(Object v, Run run) {
        return switch (v) {
            case String s -> {
                run.scan(s.length());
                yield PyText.length(s);
            }
            case Markup m -> PyText.length(m.text());
            case List<?> list -> list.size();
            case PyTuple t -> t.items().size();
            case PyDict dict -> dict.size();
            case PyRange r -> r.length();
            case DictView view -> view.dict().size();
            case Undefined u -> 0;
            case LoopContext loop -> loop.length();
            default -> -1;
        };
    }

    /** Elements in order; null when the value cannot be iterated over. */
    static @Nullable PyIterator iterator(Object v, Run run) {
        return switch (v) {
            case List<?> list -> PyIterator.over(list);
            case PyTuple t -> PyIterator.over(t.items());
            case PyDict dict -> PyIterator.over(dict.keys());
            case DictView view -> PyIterator.over(view.list());
            case String s -> characters(s, run);
            case Markup m -> characters(m.text(), run);
            case PyIterator it -> it;
            case Undefined u -> PyIterator.over(List.of());
            case PyRange r -> {
                int[] next = {0};
                yield new PyIterator(() -> next[0] < r.length() ? r.at(next[0]++) : null);
            }
            case LoopContext loop -> throw TemplateException.unsupported("iterating over loop");
            default -> null;
        };
    }

    private static PyIterator characters(String s, Run run) {
        run.scan(s.length());
        int[] at = {0};
        return new PyIterator(
                () -> {
                    if (at[0] >= s.length()) {
                        return null;
                    }
                    int c = s.codePointAt(at[0]);
                    at[0] += Character.charCount(c);
                    return Character.toString(c);
                });
    }

    static PyIterator iterate(Object v, Run run) {
        PyIterator it = iterator(v, run);
        if (it == null) {
            throw TemplateException.failed("'" + typeName(v) + "' object is not iterable");
        }
        return it;
    }

    static boolean iterable(Object v) {
        return v instanceof LoopContext
                || v instanceof PyIterator
                || v instanceof PyRange
                || v instanceof String
                || v instanceof Markup
                || v instanceof List<?>
                || v instanceof PyTuple
                || v instanceof PyDict
                || v instanceof DictView
                || v instanceof Undefined;
    }

    /** Python's list(); a new one. */
    static List<Object> list(Object v, Run run) {
        List<Object> list = iterate(v, run).rest(run);
        run.make(8L * list.size());
        return list;
    }

    static boolean contains(Object container, Object v, Run run) {
        String text = string(container);
        if (text != null) {
            String part = string(v);
            if (part == null) {
                throw TemplateException.failed(
                        "'in <string>' requires string as left operand, not " + typeName(v));
            }
            run.scan(text.length());
            return text.contains(part);
        }
        return switch (container) {
            case PyDict dict -> dict.get(v) != null;
            case DictView view when view.kind() == DictView.Kind.KEYS -> view.dict().get(v) != null;
            case PyRange r -> {
                run.scan(32L * r.length());
                yield r.contains(v, run);
            }
            default -> {
                PyIterator it = iterator(container, run);
                if (it == null) {
                    throw TemplateException.failed(
                            "argument of type '" + typeName(container) + "' is not iterable");
                }
                for (Object item = it.next(); item != null; item = it.next()) {
                    run.step();
                    if (item == v || equal(item, v, run)) {
                        yield true;
                    }
                }
                yield false;
            }
        };
    }
}
