package io.warmpath.tokens.jinja;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code of.name} and {@code of[key]} as Jinja's sandbox reads them. */
final class Attributes {
    private static final Set<String> DICT =
            Set.of("copy", "fromkeys", "get", "items", "keys", "values");
    private static final Set<String> DICT_CHANGES =
            Set.of("clear", "pop", "popitem", "setdefault", "update");
    private static final Set<String> LIST = Set.of("copy", "count", "index");
    private static final Set<String> LIST_CHANGES =
            Set.of("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort");
    private static final Set<String> TUPLE = Set.of("count", "index");
    private static final Set<String> INTEGER =
            Set.of(
                    ("as_integer_ratio bit_count bit_length conjugate denominator"
                                    + " from_bytes imag numerator real to_bytes")
                            .split(" ", -1));
    private static final Set<String> FLOAT =
            Set.of("as_integer_ratio", "conjugate", "fromhex", "hex", "imag", "is_integer", "real");
    private static final Set<String> GENERATOR =
            Set.of("close", "send", "throw", "gi_code", "gi_frame", "gi_running", "gi_yieldfrom");
    private static final Set<String> MARKUP = Set.of("striptags", "unescape", "escape");

    /** What every Python object has; hidden by the sandbox. */
    private static final Set<String> OBJECT =
            Set.of(
                    ("__class__ __dir__ __doc__ __eq__ __format__ __hash__ __init__"
                                    + " __module__ __ne__ __new__ __reduce__ __repr__ __setattr__"
                                    + " __sizeof__ __str__")
                            .split(" ", -1));

    /** Methods of Python's values that are not there yet; calls of them are refused at load. */
    static final Set<String> NOT_YET =
            Set.of(
                    ("casefold encode expandtabs format_map fromkeys isidentifier isnumeric"
                                    + " isprintable istitle maketrans swapcase translate"
                                    + " as_integer_ratio bit_count bit_length conjugate from_bytes"
                                    + " to_bytes fromhex is_integer striptags unescape isdisjoint")
                            .split(" ", -1));

    private Attributes() {}

    /** {@code of.name}: the attribute if there is one, else the key. */
    static Object get(Object of, String name, Run run) {
        Object own = own(of, name);
        if (own != null) {
            return own;
        }
        Object item = Ops.item(of, name, run);
        return item != null ? item : Undefined.member(of, name);
    }

    /** {@code of[key]}: the key if there is one, else the attribute. */
    static Object item(Object of, Object key, Run run) {
        Object item = Ops.item(of, key, run);
        if (item != null) {
            return item;
        }
        String name = Values.string(key);
        Object own = name == null ? null : own(of, name);
        return own != null ? own : Undefined.member(of, key);
    }

    /** What Python's getattr finds, or what the sandbox gives instead of it. */
    private static @Nullable Object own(Object of, String name) {
        if (of instanceof Undefined u && !OBJECT.contains(name)) {
            throw u.fails();
        }
        if (name.startsWith("__") && name.endsWith("__") && name.length() > 4) {
            if (of instanceof PyDict dict && dict.get(name) != null) {
                throw TemplateException.unsupported("the key " + name);
            }
            return Undefined.unsafe(of, name);
        }
        return switch (of) {
            case PyDict dict -> member(of, name, DICT, DICT_CHANGES);
            case String s -> member(of, name, TextMethods.NAMES, Set.of());
            case Markup m when MARKUP.contains(name) -> later(of, name);
            case Markup m -> member(of, name, TextMethods.NAMES, Set.of());
            case List<?> list -> member(of, name, LIST, LIST_CHANGES);
            case PyTuple t -> member(of, name, TUPLE, Set.of());
            case Namespace ns -> {
                Object value = ns.attributes().get(name);
                yield value != null && name.startsWith("_") ? Undefined.unsafe(of, name) : value;
            }
            case LoopContext loop -> loop.attribute(name);
            case PyRange r ->
                    switch (name) {
                        case "start" -> r.start();
                        case "stop" -> r.stop();
                        case "step" -> r.step();
                        case "count", "index" -> later(of, name);
                        default -> null;
                    };
            case MacroValue macro -> macro.attribute(name);
            case DictView view when name.equals("mapping") || name.equals("isdisjoint") ->
                    later(of, name);
            case PyIterator it when GENERATOR.contains(name) -> later(of, name);
            case Double d when FLOAT.contains(name) -> later(of, name);
            case BoundMethod m when name.startsWith("_") -> Undefined.unsafe(of, name);
            case Globals.TypeFunction type -> later(of, name);
            default ->
                    PyNumbers.integer(of) != null && INTEGER.contains(name)
                            ? later(of, name)
                            : null;
        };
    }

    private static @Nullable Object member(
            Object of, String name, Set<String> methods, Set<String> changes) {
        if (methods.contains(name)) {
            return new BoundMethod(of, name);
        }
        return changes.contains(name) ? Undefined.unsafe(of, name) : null;
    }

    private static Object later(Object of, String name) {
        throw TemplateException.unsupported(
                "the attribute " + name + " of a value of the type " + Values.typeName(of));
    }
}
