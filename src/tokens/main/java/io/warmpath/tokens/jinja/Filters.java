package io.warmpath.tokens.jinja;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Jinja's filters of values and lists; those of texts are in {@link TextFilters}. */
final class Filters {
    /** {@code value | name(args)}. */
    interface Filter {
        Object apply(Run run, Object value, Arguments args);
    }

    /** Filters of Jinja's that no chat template uses; refused by name. */
    static final Set<String> REFUSED =
            Set.of(
                    ("attr batch filesizeformat groupby pprint random slice striptags"
                                    + " truncate urlencode urlize wordcount wordwrap xmlattr")
                            .split(" ", -1));

    private static final Map<String, Filter> BY_NAME = new HashMap<>();

    static {
        TextFilters.addTo(BY_NAME);
        BY_NAME.put("tojson", Json::filter);
        BY_NAME.put("length", Filters::length);
        BY_NAME.put("count", Filters::length);
        BY_NAME.put("default", Filters::otherwise);
        BY_NAME.put("d", Filters::otherwise);
        BY_NAME.put("list", Filters::list);
        BY_NAME.put("items", Filters::items);
        BY_NAME.put("first", Filters::first);
        BY_NAME.put("last", Filters::last);
        BY_NAME.put("reverse", Filters::reverse);
        BY_NAME.put("abs", Filters::abs);
        BY_NAME.put("round", Filters::round);
        BY_NAME.put("sum", Filters::sum);
        BY_NAME.put("min", (run, v, args) -> extreme("min", "<", run, v, args));
        BY_NAME.put("max", (run, v, args) -> extreme("max", ">", run, v, args));
        BY_NAME.put("sort", Filters::sort);
        BY_NAME.put("unique", Filters::unique);
        BY_NAME.put("dictsort", Filters::dictsort);
        BY_NAME.put("map", Filters::map);
        BY_NAME.put("select", (run, v, args) -> select(run, v, args, false, true));
        BY_NAME.put("reject", (run, v, args) -> select(run, v, args, false, false));
        BY_NAME.put("selectattr", (run, v, args) -> select(run, v, args, true, true));
        BY_NAME.put("rejectattr", (run, v, args) -> select(run, v, args, true, false));
    }

    private Filters() {}

    /** Null when Jinja has no such filter in this set-up. */
    static @Nullable Filter named(String name) {
        return BY_NAME.get(name);
    }

    private static Object length(Run run, Object v, Arguments args) {
        args.bind("len", 0);
        int length = Values.length(v, run);
        if (length < 0) {
            throw TemplateException.failed(
                    "object of type '" + Values.typeName(v) + "' has no len()");
        }
        return (long) length;
    }

    private static Object otherwise(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("default", 0, "default_value", "boolean");
        boolean falsy =
                v instanceof Undefined || (Values.truth(p.or(1, false)) && !Values.truth(v));
        return falsy ? p.or(0, "") : v;
    }

    private static Object list(Run run, Object v, Arguments args) {
        args.bind("list", 0);
        return Values.list(v, run);
    }

    private static Object items(Run run, Object v, Arguments args) {
        args.bind("items", 0);
        if (v instanceof PyDict dict) {
            return PyIterator.over(new DictView(dict, DictView.Kind.ITEMS).list());
        }
        // Fails when it is read, not before.
        return new PyIterator(
                () -> {
                    if (v instanceof Undefined) {
                        return null;
                    }
                    throw TemplateException.failed("Can only get item pairs from a mapping.");
                });
    }

    private static Object first(Run run, Object v, Arguments args) {
        args.bind("first", 0);
        Object value = v instanceof Markup m ? PyText.at(m.text(), 0) : null;
        if (v instanceof String s) {
            value = PyText.at(s, 0);
        } else if (!(v instanceof Markup)) {
            value = Values.iterate(v, run).next();
        }
        return value != null ? value : Undefined.because("No first item, sequence was empty.");
    }

    private static Object last(Run run, Object v, Arguments args) {
        args.bind("last", 0);
        Object value =
                switch (v) {
                    case String s -> PyText.at(s, -1);
                    case Markup m -> {
                        String c = PyText.at(m.text(), -1);
                        yield c == null ? null : new Markup(c);
                    }
                    default -> {
                        List<?> all = reversible(v, run);
                        if (all == null) {
                            throw notReversible(v);
                        }
                        yield all.isEmpty() ? null : all.getLast();
                    }
                };
        return value != null ? value : Undefined.because("No last item, sequence was empty.");
    }

    private static TemplateException notReversible(Object v) {
        return TemplateException.failed("'" + Values.typeName(v) + "' object is not reversible");
    }

    /** The elements of what Python's reversed() takes; else null. */
    private static @Nullable List<?> reversible(Object v, Run run) {
        return switch (v) {
            case List<?> list -> list;
            case PyTuple t -> t.items();
            case PyDict dict -> dict.keys();
            case DictView view -> view.list();
            case PyRange r -> Values.list(r, run);
            case Undefined u -> List.of();
            default -> null;
        };
    }

    private static Object reverse(Run run, Object v, Arguments args) {
        args.bind("reverse", 0);
        if (Values.string(v) != null) {
            return Ops.slice(v, new PySlice(null, null, -1L), run);
        }
        List<?> all = reversible(v, run);
        if (all != null) {
            run.scan(8L * all.size());
            return PyIterator.over(all.reversed());
        }
        if (!Values.iterable(v)) {
            throw TemplateException.failed("argument must be iterable");
        }
        return new ArrayList<>(Values.list(v, run).reversed());
    }

    private static Object abs(Run run, Object v, Arguments args) {
        args.bind("abs", 0);
        if (!PyNumbers.isNumber(v)) {
            throw TemplateException.failed("bad operand type for abs()");
        }
        if (v instanceof Double d) {
            return Math.abs(d);
        }
        return PyNumbers.norm(PyNumbers.big(v).abs());
    }

    private static Object round(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("round", 0, "precision", "method");
        Object method = p.or(1, "common");
        Object precision = PyNumbers.integer(p.or(0, 0L));
        if (!(precision instanceof Long digits) || !PyNumbers.isNumber(v)) {
            throw TemplateException.failed("round() wants a number and a number of digits");
        }
        if ("common".equals(Values.string(method))) {
            return PyNumbers.round(v, (int) Math.clamp(digits, -100_000L, 100_000L));
        }
        boolean up = "ceil".equals(Values.string(method));
        if (!up && !"floor".equals(Values.string(method))) {
            throw TemplateException.failed("method must be common, ceil or floor");
        }
        Object scale = Ops.binary("**", 10L, digits, run);
        Object scaled = Ops.binary("*", v, scale, run);
        if (scaled instanceof Double d) {
            if (d.isNaN() || d.isInfinite()) {
                throw TemplateException.failed("cannot convert float to integer");
            }
            scaled = PyNumbers.integral(up ? Math.ceil(d) : Math.floor(d));
        }
        return Ops.binary("/", scaled, scale, run);
    }

    private static Object sum(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("sum", 0, "attribute", "start");
        Object total = p.or(1, 0L);
        if (Values.string(total) != null) {
            throw TemplateException.failed("sum() can't sum strings");
        }
        UnaryOperator<Object> getter = getter(p.or(0, None.NONE), run);
        PyIterator it = Values.iterate(v, run);
        for (Object item = it.next(); item != null; item = it.next()) {
            total = Ops.add(total, getter.apply(item), run);
        }
        return total;
    }

    private static Object extreme(String name, String op, Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind(name, 0, "case_sensitive", "attribute");
        UnaryOperator<Object> key = key(p.or(1, None.NONE), p.or(0, false), run);
        PyIterator it = Values.iterate(v, run);
        Object best = it.next();
        if (best == null) {
            return Undefined.because("No aggregated item, sequence was empty.");
        }
        Object bestKey = key.apply(best);
        for (Object item = it.next(); item != null; item = it.next()) {
            run.step();
            Object itemKey = key.apply(item);
            if (Values.ordered(op, itemKey, bestKey, run)) {
                best = item;
                bestKey = itemKey;
            }
        }
        return best;
    }

    private static Object sort(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("sort", 0, "reverse", "case_sensitive", "attribute");
        Object attribute = p.or(2, None.NONE);
        List<UnaryOperator<Object>> keys = new ArrayList<>();
        String names = Values.string(attribute);
        if (names == null) {
            keys.add(key(attribute, p.or(1, false), run));
        } else {
            for (String one : names.split(",", -1)) {
                keys.add(key(one, p.or(1, false), run));
            }
        }
        return Sorting.sorted(
                Values.list(v, run),
                item -> new PyTuple(keys.stream().map(k -> k.apply(item)).toList()),
                Values.truth(p.or(0, false)),
                run);
    }

    private static Object unique(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("unique", 0, "case_sensitive", "attribute");
        UnaryOperator<Object> key = key(p.or(1, None.NONE), p.or(0, false), run);
        Set<Object> seen = new HashSet<>();
        return lazily(run, v, item -> seen.add(PyDict.hashed(key.apply(item))) ? item : null);
    }

    /** Reads nothing before its own first element is asked for, as Python's generators. */
    private static PyIterator lazily(Run run, Object v, Mapper mapper) {
        PyIterator[] from = new PyIterator[1];
        return new PyIterator(
                () -> {
                    if (from[0] == null) {
                        from[0] = Values.iterate(v, run);
                    }
                    for (Object item = from[0].next(); item != null; item = from[0].next()) {
                        run.step();
                        Object mapped = mapper.apply(item);
                        if (mapped != null) {
                            return mapped;
                        }
                    }
                    return null;
                });
    }

    /** Null: the element is left out. */
    private interface Mapper {
        @Nullable Object apply(Object item);
    }

    private static Object dictsort(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("dictsort", 0, "case_sensitive", "by", "reverse");
        Object by = p.or(1, "key");
        boolean byValue = "value".equals(Values.string(by));
        if (!byValue && !"key".equals(Values.string(by))) {
            throw TemplateException.failed("You can only sort by either \"key\" or \"value\"");
        }
        if (!(v instanceof PyDict dict)) {
            throw v instanceof Undefined u
                    ? u.fails()
                    : TemplateException.failed(
                            "'" + Values.typeName(v) + "' object has no attribute 'items'");
        }
        boolean cased = Values.truth(p.or(0, false));
        List<Object> pairs = new ArrayList<>(new DictView(dict, DictView.Kind.ITEMS).list());
        return Sorting.sorted(
                pairs,
                pair -> {
                    Object part = ((PyTuple) pair).items().get(byValue ? 1 : 0);
                    return cased ? part : ignoringCase(part);
                },
                Values.truth(p.or(2, false)),
                run);
    }

    private static Object map(Run run, Object v, Arguments args) {
        if (args.positional().isEmpty() && args.named().containsKey("attribute")) {
            return lazilyIf(
                    run,
                    v,
                    () -> {
                        Arguments.Bound p = args.bind("map", 0, "attribute", "default");
                        Object otherwise = p.or(1, None.NONE);
                        List<Object> parts = parts(p.or(0, None.NONE));
                        return item -> attribute(item, parts, otherwise, run);
                    });
        }
        return lazilyIf(
                run,
                v,
                () -> {
                    if (args.positional().isEmpty()) {
                        throw TemplateException.failed("map requires a filter argument");
                    }
                    Object name = args.positional().get(0);
                    Filter filter = called(name);
                    Arguments rest = args.withoutFirst(1);
                    return item -> filter.apply(run, item, rest);
                });
    }

    private static Filter called(Object name) {
        String text = Values.string(name);
        Filter filter = text == null ? null : named(text);
        if (filter == null) {
            if (text != null && REFUSED.contains(text)) {
                throw TemplateException.unsupported("the filter " + text);
            }
            throw TemplateException.failed("No filter named " + Repr.of(name) + ".");
        }
        return filter;
    }

    private interface MapperOf {
        Mapper get();
    }

    /** As {@link #lazily}; the mapper is made when the first element is asked for, if any. */
    private static PyIterator lazilyIf(Run run, Object v, MapperOf mapper) {
        Mapper[] made = new Mapper[1];
        return Values.truth(v)
                ? lazily(
                        run,
                        prepared(v, run, () -> made[0] = mapper.get()),
                        item -> made[0].apply(item))
                : PyIterator.over(List.of());
    }

    /** {@code v}, with something done before its first element is read. */
    private static PyIterator prepared(Object v, Run run, Runnable before) {
        PyIterator[] from = new PyIterator[1];
        return new PyIterator(
                () -> {
                    if (from[0] == null) {
                        before.run();
                        from[0] = Values.iterate(v, run);
                    }
                    return from[0].next();
                });
    }

    private static Object select(
            Run run, Object v, Arguments args, boolean byAttribute, boolean wanted) {
        return lazilyIf(
                run,
                v,
                () -> {
                    List<Object> positional = args.positional();
                    int off = byAttribute ? 1 : 0;
                    if (positional.size() < off) {
                        throw TemplateException.failed("Missing parameter for attribute name");
                    }
                    List<Object> parts = byAttribute ? parts(positional.get(0)) : List.of();
                    Tests.Test test =
                            positional.size() > off
                                    ? Tests.called(positional.get(off))
                                    : (r, value, none) -> Values.truth(value);
                    Arguments rest =
                            positional.size() > off ? args.withoutFirst(off + 1) : Arguments.NONE;
                    return item -> {
                        Object value = attribute(item, parts, None.NONE, run);
                        return test.holds(run, value, rest) == wanted ? item : null;
                    };
                });
    }

    private static UnaryOperator<Object> key(Object attribute, Object caseSensitive, Run run) {
        UnaryOperator<Object> getter = getter(attribute, run);
        return Values.truth(caseSensitive) ? getter : item -> ignoringCase(getter.apply(item));
    }

    private static Object ignoringCase(Object value) {
        String text = Values.string(value);
        return text == null ? value : PyText.lower(text);
    }

    private static UnaryOperator<Object> getter(Object attribute, Run run) {
        List<Object> parts = parts(attribute);
        return item -> attribute(item, parts, None.NONE, run);
    }

    private static List<Object> parts(Object attribute) {
        if (attribute == None.NONE) {
            return List.of();
        }
        String text = Values.string(attribute);
        if (text == null) {
            return List.of(attribute);
        }
        List<Object> parts = new ArrayList<>();
        for (String part : text.split("\\.", -1)) {
            boolean number = !part.isEmpty() && part.chars().allMatch(c -> c >= '0' && c <= '9');
            parts.add(number && part.length() < 18 ? (Object) Long.parseLong(part) : part);
        }
        return parts;
    }

    private static Object attribute(Object item, List<Object> parts, Object otherwise, Run run) {
        Object value = item;
        for (Object part : parts) {
            value = Attributes.item(value, part, run);
            if (otherwise != None.NONE && value instanceof Undefined) {
                value = otherwise;
            }
        }
        return value;
    }
}
