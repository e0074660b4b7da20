package io.warmpath.tokens.jinja;

import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Functions that every template can call. */
final class Globals {
    /** Functions of Jinja's own that no chat template uses; refused by name. */
    static final Set<String> REFUSED = Set.of("cycler", "joiner", "lipsum", "self", "super");

    static final Map<String, Object> FUNCTIONS =
            Map.of(
                    "range", new Function("range", Globals::range),
                    "dict", new TypeFunction("dict", Globals::dict),
                    "namespace",
                            new TypeFunction(
                                    "namespace", (run, args) -> new Namespace(dict(run, args))),
                    "raise_exception", new Function("raise_exception", Globals::raise),
                    "strftime_now", new Function("strftime_now", Globals::now));

    private Globals() {}

    private interface Body {
        Object call(Run run, Arguments args);
    }

    private record Function(String name, Body body) implements Callable {
        @Override
        public Object call(Run run, Arguments args) {
            run.step();
            return body.call(run, args);
        }
    }

    /** A Python class as a function; its attributes are not there. */
    record TypeFunction(String name, Body body) implements Callable {
        @Override
        public Object call(Run run, Arguments args) {
            run.step();
            return body.call(run, args);
        }
    }

    private static Object range(Run run, Arguments args) {
        Arguments.Bound p = args.bind("range", 1, "/start", "/stop", "/step");
        boolean one = !p.has(1);
        return PyRange.of(
                one ? 0 : integer(p.or(0, 0L)),
                integer(p.or(one ? 0 : 1, 0L)),
                integer(p.or(2, 1L)));
    }

    private static long integer(Object value) {
        if (value instanceof Undefined u) {
            throw u.fails();
        }
        if (PyNumbers.integer(value) instanceof Long n) {
            return n;
        }
        throw TemplateException.failed(
                "'" + Values.typeName(value) + "' object cannot be interpreted as an integer");
    }

    private static PyDict dict(Run run, Arguments args) {
        if (args.positional().size() > 1) {
            throw TemplateException.failed("dict expected at most 1 argument");
        }
        PyDict dict = new PyDict();
        if (!args.positional().isEmpty()) {
            Object from = args.positional().get(0);
            if (from instanceof PyDict other) {
                run.make(16L * other.size());
                for (int i = 0; i < other.size(); i++) {
                    dict.put(other.key(i), other.value(i));
                }
            } else {
                for (Object pair : Values.list(from, run)) {
                    List<Object> two = Values.list(pair, run);
                    if (two.size() != 2) {
                        throw TemplateException.failed(
                                "dictionary update sequence element has not 2 elements");
                    }
                    dict.put(two.get(0), two.get(1));
                }
            }
        }
        args.named().forEach(dict::put);
        return dict;
    }

    private static Object raise(Run run, Arguments args) {
        Object message = args.bind("raise_exception", 1, "message").or(0, "");
        throw new TemplateException(TemplateException.Kind.RAISED, Values.text(message));
    }

    private static Object now(Run run, Arguments args) {
        Object format = args.bind("strftime_now", 1, "format").or(0, "");
        String text = Values.string(format);
        if (text == null) {
            throw TemplateException.failed(
                    "strftime() argument 1 must be str, not " + Values.typeName(format));
        }
        return run.made(Strftime.format(ZonedDateTime.now(run.clock), text));
    }
}
