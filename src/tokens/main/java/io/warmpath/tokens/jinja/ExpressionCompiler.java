package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Args;
import io.warmpath.tokens.jinja.Ast.Expr;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Syntax trees of expressions to {@link Eval}s. */
final class ExpressionCompiler {
    /** Operators in a row; Python's parser gives up at 200 parentheses. */
    private static final int MAX_DEPTH = 200;

    private final Scope scope;
    private int depth;

    ExpressionCompiler(Scope scope) {
        this.scope = scope;
    }

    static Eval compile(Expr e, Scope scope) {
        return new ExpressionCompiler(scope).of(e);
    }

    private Eval of(Expr e) {
        if (++depth > MAX_DEPTH) {
            throw TemplateException.unsupported(
                    e.line(), "an expression of over " + MAX_DEPTH + " operators");
        }
        Eval eval = node(e);
        depth--;
        return eval;
    }

    private Eval[] all(List<Expr> list) {
        return list.stream().map(this::of).toArray(Eval[]::new);
    }

    private Eval node(Expr e) {
        return switch (e) {
            case Ast.Const c -> {
                Object value = c.value();
                yield a -> value;
            }
            case Ast.Name n -> name(n);
            case Ast.TupleOf t -> {
                Eval[] items = all(t.items());
                yield a -> new PyTuple(evaluated(items, a));
            }
            case Ast.ListOf l -> {
                Eval[] items = all(l.items());
                yield a -> evaluated(items, a);
            }
            case Ast.DictOf d -> dict(d);
            case Ast.Choice c -> choice(c);
            case Ast.And b -> {
                Eval left = of(b.left());
                Eval right = of(b.right());
                yield a -> {
                    Object value = left.eval(a);
                    return Values.truth(value) ? right.eval(a) : value;
                };
            }
            case Ast.Or b -> {
                Eval left = of(b.left());
                Eval right = of(b.right());
                yield a -> {
                    Object value = left.eval(a);
                    return Values.truth(value) ? value : right.eval(a);
                };
            }
            case Ast.Not n -> {
                Eval of = of(n.of());
                yield a -> !Values.truth(of.eval(a));
            }
            case Ast.Compare c -> compare(c);
            case Ast.Binary b when b.op().equals("+") -> sum(b);
            case Ast.Binary b -> {
                Eval left = of(b.left());
                Eval right = of(b.right());
                String op = b.op();
                yield a -> {
                    Object x = left.eval(a);
                    return Ops.binary(op, x, right.eval(a), a.run);
                };
            }
            case Ast.Concat c -> new Eval.Concat(all(c.parts()));
            case Ast.Sign s -> {
                Eval of = of(s.of());
                String op = s.op();
                yield a -> Ops.sign(op, of.eval(a));
            }
            case Ast.Attribute at -> {
                Eval of = of(at.of());
                String name = at.name();
                yield a -> Attributes.get(of.eval(a), name, a.run);
            }
            case Ast.Item i -> {
                Eval of = of(i.of());
                Eval key = of(i.key());
                yield a -> {
                    Object value = of.eval(a);
                    return Attributes.item(value, key.eval(a), a.run);
                };
            }
            case Ast.Slice s -> slice(s);
            case Ast.Call c -> call(c, null);
            case Ast.Filter f -> {
                Expr of = f.of();
                if (of == null) {
                    throw new IllegalStateException("a filter of nothing");
                }
                yield filter(f, of(of));
            }
            case Ast.Test t -> test(t);
        };
    }

    private Eval name(Ast.Name n) {
        String name = n.name();
        Symbols.Ref ref = scope.symbols().find(name);
        if (ref == null) {
            throw TemplateException.syntax(n.line(), "the name " + name + " cannot be read here");
        }
        if (Globals.REFUSED.contains(name) && isContext(name)) {
            throw TemplateException.unsupported(n.line(), "the name " + name);
        }
        int levels = scope.symbols().unit.distance(ref.unit());
        int slot = ref.unit().slot(ref.ident());
        if (levels == 0) {
            return a -> {
                Object value = a.slots[slot];
                return value != null ? value : Undefined.variable(name);
            };
        }
        return a -> {
            Object value = a.out(levels).slots[slot];
            return value != null ? value : Undefined.variable(name);
        };
    }

    /** Nothing in the template sets it. */
    private boolean isContext(String name) {
        return scope.symbols().isContext(name);
    }

    private static List<Object> evaluated(Eval[] items, Activation a) {
        List<Object> values = new ArrayList<>(items.length);
        for (Eval item : items) {
            values.add(item.eval(a));
        }
        return values;
    }

    private Eval dict(Ast.DictOf d) {
        Eval[] keys = all(d.keys());
        Eval[] values = all(d.values());
        return a -> {
            PyDict dict = new PyDict();
            for (int i = 0; i < keys.length; i++) {
                Object key = keys[i].eval(a);
                dict.put(key, values[i].eval(a));
            }
            return dict;
        };
    }

    private Eval choice(Ast.Choice c) {
        ExpressionCompiler soft = new ExpressionCompiler(scope.softer());
        soft.depth = depth;
        Eval test = soft.of(c.test());
        Eval then = soft.of(c.then());
        Expr otherwise = c.otherwise();
        Eval other =
                otherwise != null
                        ? soft.of(otherwise)
                        : a ->
                                Undefined.because(
                                        "the inline if-expression on line "
                                                + c.line()
                                                + " evaluated to false and no else section was"
                                                + " defined.");
        return a -> Values.truth(test.eval(a)) ? then.eval(a) : other.eval(a);
    }

    private Eval compare(Ast.Compare c) {
        Eval first = of(c.first());
        Eval[] rest = all(c.rest());
        String[] ops = c.ops().toArray(String[]::new);
        if (ops.length == 1) {
            String op = ops[0];
            Eval right = rest[0];
            return a -> {
                Object left = first.eval(a);
                return Ops.compare(op, left, right.eval(a), a.run);
            };
        }
        return a -> {
            Object left = first.eval(a);
            for (int i = 0; i < ops.length; i++) {
                Object right = rest[i].eval(a);
                if (!Ops.compare(ops[i], left, right, a.run)) {
                    return false;
                }
                left = right;
            }
            return true;
        };
    }

    /** Sums to the left in one piece, so that a long row of them is not deep. */
    private Eval sum(Ast.Binary b) {
        Deque<Expr> parts = new ArrayDeque<>();
        Expr left = b;
        while (left instanceof Ast.Binary sum && sum.op().equals("+")) {
            parts.addFirst(sum.right());
            left = sum.left();
        }
        parts.addFirst(left);
        return new Eval.Sum(all(List.copyOf(parts)));
    }

    private Eval slice(Ast.Slice s) {
        Eval of = of(s.of());
        Eval start = orNone(s.start());
        Eval stop = orNone(s.stop());
        Eval step = orNone(s.step());
        boolean constant = isConstant(s.of());
        return a -> {
            Object value = of.eval(a);
            Object from = start.eval(a);
            Object to = stop.eval(a);
            PySlice slice = PySlice.of(from, to, step.eval(a));
            if (constant && (value instanceof PyDict || !Values.iterable(value))) {
                // Jinja evaluates this one at load, by other rules.
                throw TemplateException.unsupported("a slice of a constant without elements");
            }
            return Ops.slice(value, slice, a.run);
        };
    }

    /** Whether Jinja may know the value at load: it needs no name, or none is reached. */
    private static boolean isConstant(Expr e) {
        return switch (e) {
            case Ast.Or o -> isConstant(o.left());
            case Ast.And o -> isConstant(o.left());
            case Ast.Choice c -> isConstant(c.test());
            default -> {
                boolean[] named = new boolean[1];
                Names.read(e, name -> named[0] = true);
                yield !named[0];
            }
        };
    }

    private Eval orNone(@Nullable Expr e) {
        return e == null ? a -> None.NONE : of(e);
    }

    /** {@code caller}: the body of a call block, given on as the argument {@code caller}. */
    Eval call(Ast.Call c, @Nullable Eval caller) {
        if (c.callee() instanceof Ast.Attribute at && Attributes.NOT_YET.contains(at.name())) {
            throw TemplateException.unsupported(c.line(), "the method " + at.name());
        }
        if (caller != null && c.args().names().contains("caller")) {
            throw TemplateException.syntax(c.line(), "the argument caller is given twice");
        }
        Eval callee = of(c.callee());
        ArgsEval args = args(c.args());
        return a -> {
            Object function = callee.eval(a);
            Arguments given = args.eval(a);
            if (caller != null) {
                given = given.with("caller", caller.eval(a));
            }
            if (function instanceof Callable callable) {
                return callable.call(a.run, given);
            }
            throw function instanceof Undefined u
                    ? u.fails()
                    : TemplateException.failed(
                            "'" + Values.typeName(function) + "' object is not callable");
        };
    }

    private interface ArgsEval {
        Arguments eval(Activation a);
    }

    private ArgsEval args(Args args) {
        Eval[] positional = all(args.positional());
        Eval[] named = all(args.named());
        String[] names = args.names().toArray(String[]::new);
        Expr starExpr = args.star();
        Expr starsExpr = args.stars();
        if (starExpr == null && starsExpr == null) {
            if (positional.length == 0 && named.length == 0) {
                return a -> Arguments.NONE;
            }
            if (named.length == 0) {
                return a -> new Arguments(evaluated(positional, a), Map.of());
            }
        }
        Eval star = starExpr == null ? null : of(starExpr);
        Eval stars = starsExpr == null ? null : of(starsExpr);
        return a -> {
            List<Object> values = evaluated(positional, a);
            if (star != null) {
                values.addAll(Values.list(star.eval(a), a.run));
            }
            Map<String, Object> byName = new LinkedHashMap<>();
            for (int i = 0; i < names.length; i++) {
                byName.put(names[i], named[i].eval(a));
            }
            if (stars != null) {
                addAll(stars.eval(a), byName);
            }
            return new Arguments(values, byName);
        };
    }

    private static void addAll(Object from, Map<String, Object> into) {
        if (!(from instanceof PyDict dict)) {
            throw TemplateException.failed("argument after ** must be a mapping");
        }
        for (int i = 0; i < dict.size(); i++) {
            String name = Values.string(dict.key(i));
            if (name == null || into.put(name, dict.value(i)) != null) {
                throw TemplateException.failed("keywords must be different strings");
            }
        }
    }

    /** {@code of}: what it is applied to. */
    Eval filter(Ast.Filter f, Eval of) {
        Filters.Filter filter = Filters.named(f.name());
        checkMapped(f);
        ArgsEval args = args(f.args());
        if (filter == null) {
            if (Filters.REFUSED.contains(f.name())) {
                throw TemplateException.unsupported(f.line(), "the filter " + f.name());
            }
            return unknown("filter", f.name(), f.line(), of, args);
        }
        return a -> {
            Object value = of.eval(a);
            return filter.apply(a.run, value, args.eval(a));
        };
    }

    /** A block's filters, innermost first; {@code of} is what the block wrote. */
    Eval blockFilter(Expr filter, Eval of) {
        if (!(filter instanceof Ast.Filter f)) {
            throw new IllegalStateException("not a filter");
        }
        Expr inner = f.of();
        return filter(f, inner == null ? of : blockFilter(inner, of));
    }

    private static void checkMapped(Ast.Filter f) {
        if (f.name().equals("map")
                && !f.args().positional().isEmpty()
                && f.args().positional().get(0) instanceof Ast.Const c
                && c.value() instanceof String name
                && Filters.REFUSED.contains(name)) {
            throw TemplateException.unsupported(f.line(), "the filter " + name);
        }
    }

    private Eval unknown(String kind, String name, int line, Eval of, ArgsEval args) {
        if (!scope.soft()) {
            throw TemplateException.syntax(line, "No " + kind + " named " + Repr.of(name) + ".");
        }
        return a -> {
            of.eval(a);
            args.eval(a);
            throw TemplateException.failed("No " + kind + " named " + Repr.of(name) + " found.");
        };
    }

    private Eval test(Ast.Test t) {
        Eval of = of(t.of());
        ArgsEval args = args(t.args());
        Tests.Test test = Tests.named(t.name());
        if (test == null) {
            return unknown("test", t.name(), t.line(), of, args);
        }
        return a -> {
            Object value = of.eval(a);
            return test.holds(a.run, value, args.eval(a));
        };
    }
}
