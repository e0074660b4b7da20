package io.warmpath.tokens.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** Methods of Python's str, and of texts marked as safe, which keep the mark. */
final class TextMethods {
    static final Set<String> NAMES =
            Set.of(
                    ("capitalize casefold center count encode endswith expandtabs find format"
                                    + " format_map index isalnum isalpha isascii isdecimal isdigit"
                                    + " isidentifier islower isnumeric isprintable isspace istitle"
                                    + " isupper join ljust lower lstrip maketrans partition"
                                    + " removeprefix removesuffix replace rfind rindex rjust"
                                    + " rpartition rsplit rstrip split splitlines startswith strip"
                                    + " swapcase title translate upper zfill")
                            .split(" ", -1));

    private final String s;
    private final boolean safe;
    private final String name;
    private final Arguments args;
    private final Run run;

    private TextMethods(String s, boolean safe, String name, Arguments args, Run run) {
        this.s = s;
        this.safe = safe;
        this.name = name;
        this.args = args;
        this.run = run;
    }

    static Object call(String s, boolean safe, String name, Arguments args, Run run) {
        run.scan(s.length());
        return new TextMethods(s, safe, name, args, run).call();
    }

    private Object call() {
        return switch (name) {
            case "strip", "lstrip", "rstrip" -> strip();
            case "split", "rsplit" -> split();
            case "startswith", "endswith" -> affix();
            case "replace" -> replace();
            case "join" -> join();
            case "find", "rfind", "index", "rindex", "count" -> find();
            case "partition", "rpartition" -> partition();
            case "ljust", "rjust", "center" -> justify();
            case "format" -> BraceFormat.format(s, safe, args, run);
            case "splitlines" -> {
                Arguments.Bound p = args.bind(name, 0, "keepends");
                yield all(PyText.lines(s, Values.truth(p.or(0, false))));
            }
            case "removeprefix" -> {
                String prefix = text(args.bind(name, 1, "/prefix").or(0, ""));
                yield marked(s.startsWith(prefix) ? s.substring(prefix.length()) : s);
            }
            case "removesuffix" -> {
                String suffix = text(args.bind(name, 1, "/suffix").or(0, ""));
                boolean found = !suffix.isEmpty() && s.endsWith(suffix);
                yield marked(found ? s.substring(0, s.length() - suffix.length()) : s);
            }
            case "zfill" -> {
                long width = number(args.bind(name, 1, "/width").or(0, 0L));
                int length = PyText.length(s);
                run.make(Math.max(width, length));
                int sign = s.startsWith("-") || s.startsWith("+") ? 1 : 0;
                String zeros = "0".repeat((int) Math.max(0, width - length));
                yield marked(s.substring(0, sign) + zeros + s.substring(sign));
            }
            default -> {
                args.bind(name, 0);
                yield plain();
            }
        };
    }

    /** Methods without arguments. */
    private Object plain() {
        return switch (name) {
            case "upper" -> marked(PyText.upper(s));
            case "lower" -> marked(PyText.lower(s));
            case "capitalize" -> marked(PyText.capitalize(s));
            case "title" -> marked(PyText.title(s));
            case "isspace" -> every(PyText::isSpace);
            case "isalpha" -> every(Character::isLetter);
            case "isalnum" ->
                    every(
                            c ->
                                    Character.isLetterOrDigit(c)
                                            || Character.getType(c) == Character.LETTER_NUMBER
                                            || Character.getType(c) == Character.OTHER_NUMBER);
            case "isdecimal" -> every(Character::isDigit);
            case "isdigit" -> every(TextMethods::isDigit);
            case "isascii" -> s.chars().allMatch(c -> c < 128);
            case "islower" -> PyText.isLower(s);
            case "isupper" -> PyText.isUpper(s);
            default -> throw TemplateException.unsupported("the method " + name + " of a text");
        };
    }

    private static boolean isDigit(int c) {
        if (Character.getType(c) == Character.OTHER_NUMBER) {
            throw TemplateException.unsupported(
                    "isdigit of the character " + Character.toString(c));
        }
        return Character.isDigit(c);
    }

    private boolean every(IntPredicate test) {
        return !s.isEmpty() && s.codePoints().allMatch(test);
    }

    private Object marked(String text) {
        run.make(text.length());
        return safe ? new Markup(text) : text;
    }

    private List<Object> all(List<String> texts) {
        run.make(s.length() + 8L * texts.size());
        List<Object> out = new ArrayList<>(texts.size());
        for (String text : texts) {
            out.add(safe ? new Markup(text) : text);
        }
        return out;
    }

    private String text(Object value) {
        String text = Values.string(value);
        if (text == null) {
            throw TemplateException.failed(name + "() wants a text, not " + Values.typeName(value));
        }
        return text;
    }

    private @Nullable String textOrNone(Object value) {
        return value == None.NONE ? null : text(value);
    }

    private long number(Object value) {
        Object n = PyNumbers.integer(value);
        if (n instanceof Long l) {
            return l;
        }
        throw TemplateException.failed(name + "() wants an integer, not " + Values.typeName(value));
    }

    private Object strip() {
        String chars = textOrNone(args.bind(name, 0, safe ? "chars" : "/chars").or(0, None.NONE));
        return marked(
                switch (name) {
                    case "strip" -> PyText.strip(s, chars);
                    case "lstrip" -> PyText.lstrip(s, chars);
                    default -> PyText.rstrip(s, chars);
                });
    }

    private Object split() {
        Arguments.Bound p = args.bind(name, 0, "sep", "maxsplit");
        String sep = textOrNone(p.or(0, None.NONE));
        long max = number(p.or(1, -1L));
        return all(name.equals("split") ? PyText.split(s, sep, max) : PyText.rsplit(s, sep, max));
    }

    private Object affix() {
        Arguments.Bound p = args.bind(name, 1, "/affix", "/start", "/end");
        Object affix = p.or(0, None.NONE);
        String within = s;
        if (p.has(1)) {
            PySlice slice = PySlice.of(p.or(1, None.NONE), p.or(2, None.NONE), None.NONE);
            PySlice.Bounds b = slice.bounds(PyText.length(s));
            Long start = slice.start();
            if (b.start() > b.stop() || (start != null && start > PyText.length(s))) {
                return false;
            }
            within = PyText.slice(s, slice);
        }
        if (affix instanceof PyTuple several) {
            for (Object one : several.items()) {
                if (has(within, text(one))) {
                    return true;
                }
            }
            return false;
        }
        return has(within, text(affix));
    }

    private boolean has(String within, String affix) {
        return name.equals("startswith") ? within.startsWith(affix) : within.endsWith(affix);
    }

    private Object replace() {
        Arguments.Bound p = args.bind(name, 2, "/old", "/new", "/count");
        Object with = p.or(1, "");
        String text = safe ? Markup.escaped(with).text() : text(with);
        String out = PyText.replace(s, text(p.or(0, "")), text, number(p.or(2, -1L)), run);
        return safe ? new Markup(out) : out;
    }

    private Object join() {
        Object over = args.bind(name, 1, "/iterable").or(0, None.NONE);
        StringBuilder out = new StringBuilder();
        PyIterator it = Values.iterate(over, run);
        boolean first = true;
        for (Object v = it.next(); v != null; v = it.next()) {
            String part = safe ? Markup.escaped(v).text() : text(v);
            run.make(part.length() + (first ? 0 : s.length()));
            out.append(first ? "" : s).append(part);
            first = false;
        }
        return safe ? new Markup(out.toString()) : out.toString();
    }

    private Object find() {
        Arguments.Bound p = args.bind(name, 1, "/sub", "/start", "/end");
        String part = text(p.or(0, ""));
        String within = s;
        int offset = 0;
        boolean outside = false;
        if (p.has(1)) {
            int length = PyText.length(s);
            PySlice slice = PySlice.of(p.or(1, None.NONE), p.or(2, None.NONE), None.NONE);
            PySlice.Bounds b = slice.bounds(length);
            Long start = slice.start();
            outside = b.start() > b.stop() || (start != null && start > length);
            within = PyText.slice(s, slice);
            offset = b.start();
        }
        if (name.equals("count")) {
            return outside ? 0L : PyText.count(within, part);
        }
        boolean last = name.startsWith("r");
        int at = outside ? -1 : last ? within.lastIndexOf(part) : within.indexOf(part);
        if (at < 0) {
            if (name.endsWith("index")) {
                throw TemplateException.failed("substring not found");
            }
            return -1L;
        }
        return (long) offset + within.codePointCount(0, at);
    }

    private Object partition() {
        String sep = text(args.bind(name, 1, "/sep").or(0, ""));
        if (sep.isEmpty()) {
            throw TemplateException.failed("empty separator");
        }
        boolean first = name.equals("partition");
        int at = first ? s.indexOf(sep) : s.lastIndexOf(sep);
        if (at < 0) {
            return first
                    ? PyTuple.of(marked(s), marked(""), marked(""))
                    : PyTuple.of(marked(""), marked(""), marked(s));
        }
        return PyTuple.of(
                marked(s.substring(0, at)), marked(sep), marked(s.substring(at + sep.length())));
    }

    private Object justify() {
        Arguments.Bound p = args.bind(name, 1, "/width", "/fillchar");
        Object fill = p.or(1, " ");
        String with = safe ? Markup.escaped(fill).text() : text(fill);
        if (PyText.length(with) != 1) {
            throw TemplateException.failed("The fill character must be exactly one character long");
        }
        long width = number(p.or(0, 0L));
        int length = PyText.length(s);
        if (width <= length) {
            return marked(s);
        }
        run.make(width * with.length());
        int pad = (int) (width - length);
        int left =
                switch (name) {
                    case "ljust" -> 0;
                    case "rjust" -> pad;
                    // Python's centre leans left or right, depending on the parity of both.
                    default -> pad / 2 + (pad & (int) width & 1);
                };
        return marked(with.repeat(left) + s + with.repeat(pad - left));
    }
}
