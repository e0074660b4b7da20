package io.warmpath.tokens.jinja;

import java.util.ArrayList;
import java.util.List;

/** A method together with the value that it belongs to. */
record BoundMethod(Object self, String name) implements Callable {

    boolean same(BoundMethod other) {
        return self == other.self && name.equals(other.name);
    }

    @Override
    public Object call(Run run, Arguments args) {
        run.step();
        return switch (self) {
            case String s -> TextMethods.call(s, false, name, args, run);
            case Markup m -> TextMethods.call(m.text(), true, name, args, run);
            case PyDict dict -> dict(dict, args, run);
            case List<?> list -> sequence(list, args, run);
            case PyTuple t -> sequence(t.items(), args, run);
            case LoopContext loop -> loop.call(name, args);
            default -> throw TemplateException.unsupported("the method " + name);
        };
    }

    private Object dict(PyDict dict, Arguments args, Run run) {
        switch (name) {
            case "get" -> {
                Arguments.Bound p = args.bind("get", 1, "/key", "/default");
                Object value = dict.get(p.or(0, None.NONE));
                return value != null ? value : p.or(1, None.NONE);
            }
            case "items" -> {
                args.bind(name, 0);
                return new DictView(dict, DictView.Kind.ITEMS);
            }
            case "keys" -> {
                args.bind(name, 0);
                return new DictView(dict, DictView.Kind.KEYS);
            }
            case "values" -> {
                args.bind(name, 0);
                return new DictView(dict, DictView.Kind.VALUES);
            }
            case "copy" -> {
                args.bind(name, 0);
                run.make(16L * dict.size());
                PyDict copy = new PyDict();
                for (int i = 0; i < dict.size(); i++) {
                    copy.put(dict.key(i), dict.value(i));
                }
                return copy;
            }
            default -> throw TemplateException.unsupported("the method " + name + " of a dict");
        }
    }

    private Object sequence(List<?> list, Arguments args, Run run) {
        run.scan(32L * list.size());
        switch (name) {
            case "copy" -> {
                args.bind(name, 0);
                run.make(8L * list.size());
                return new ArrayList<Object>(list);
            }
            case "count" -> {
                Object value = args.bind(name, 1, "/value").or(0, None.NONE);
                return list.stream().filter(v -> v == value || Values.equal(v, value, run)).count();
            }
            default -> {
                Arguments.Bound p = args.bind(name, 1, "/value", "/start", "/stop");
                Object value = p.or(0, None.NONE);
                if (p.has(1) && (p.or(1, 0L) == None.NONE || p.or(2, 0L) == None.NONE)) {
                    throw TemplateException.failed("slice indices must be integers");
                }
                PySlice slice = PySlice.of(p.or(1, None.NONE), p.or(2, None.NONE), None.NONE);
                PySlice.Bounds b = slice.bounds(list.size());
                for (int i = b.start(); i < b.stop(); i++) {
                    if (list.get(i) == value || Values.equal(list.get(i), value, run)) {
                        return (long) i;
                    }
                }
                throw TemplateException.failed(Repr.of(value) + " is not in list");
            }
        }
    }
}
