package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Expr;
import io.warmpath.tokens.jinja.Ast.Stmt;
import io.warmpath.tokens.jinja.Ast.Target;
import io.warmpath.tokens.jinja.Exec.End;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Syntax trees of statements to {@link Exec}s. */
final class Compiler {
    /** Sets a variable, or several. */
    interface Store {
        void set(Activation a, Object value);
    }

    /** Gives the names of a scope their first values, or takes them away again. */
    private interface Frame {
        void apply(Activation a);
    }

    /** A template's body and how many variables it needs. */
    record Program(Exec body, int slots) {}

    private Compiler() {}

    static Program compile(List<Stmt> template) {
        Symbols.Unit unit = new Symbols.Unit(null);
        Symbols symbols = Symbols.root(unit);
        Names.declare(template, symbols);
        Exec body = body(template, new Scope(symbols, false, false));
        Frame enter = enter(symbols);
        Exec all =
                (a, out) -> {
                    enter.apply(a);
                    return body.exec(a, out);
                };
        return new Program(all, unit.size());
    }

    private static Exec body(List<Stmt> statements, Scope scope) {
        return Exec.all(statements.stream().map(s -> one(s, scope)).toArray(Exec[]::new));
    }

    private static Exec one(Stmt statement, Scope scope) {
        return switch (statement) {
            case Ast.Text t -> {
                String text = t.text();
                yield (a, out) -> {
                    a.run.make(text.length());
                    out.append(text);
                    return End.NORMAL;
                };
            }
            case Ast.Print p -> {
                Eval value = ExpressionCompiler.compile(p.value(), scope);
                yield (a, out) -> {
                    value.print(a, out);
                    return End.NORMAL;
                };
            }
            case Ast.If i -> branches(i, scope);
            case Ast.For f -> LoopCompiler.compile(f, scope);
            case Ast.Set s -> {
                Eval value = ExpressionCompiler.compile(s.value(), scope);
                Store target = store(s.target(), scope.symbols());
                Eval[] namespaces = namespaces(s.target(), scope.symbols());
                yield (a, out) -> {
                    for (Eval namespace : namespaces) {
                        namespace(namespace, a);
                    }
                    target.set(a, value.eval(a));
                    return End.NORMAL;
                };
            }
            case Ast.SetBlock s -> setBlock(s, scope);
            case Ast.Macro m -> {
                MacroValue.Code code = MacroCompiler.compile(m.name(), m.signature(), scope);
                Store target = store(new Ast.NameTarget(m.name()), scope.symbols());
                yield (a, out) -> {
                    target.set(a, new MacroValue(code, a));
                    return End.NORMAL;
                };
            }
            case Ast.CallBlock c -> callBlock(c, scope);
            case Ast.FilterBlock f -> filterBlock(f, scope);
            case Ast.Break b -> {
                inLoop(scope, "break", b.line());
                yield (a, out) -> End.BREAK;
            }
            case Ast.Continue c -> {
                inLoop(scope, "continue", c.line());
                yield (a, out) -> End.CONTINUE;
            }
        };
    }

    private static void inLoop(Scope scope, String tag, int line) {
        if (!scope.inLoop()) {
            throw TemplateException.syntax(line, "'" + tag + "' outside loop");
        }
    }

    private static Exec branches(Ast.If i, Scope scope) {
        Scope soft = scope.softer();
        int n = i.branches().size();
        Eval[] tests = new Eval[n];
        Exec[] bodies = new Exec[n];
        for (int k = 0; k < n; k++) {
            tests[k] = ExpressionCompiler.compile(i.branches().get(k).test(), soft);
            bodies[k] = body(i.branches().get(k).body(), soft);
        }
        Exec otherwise = body(i.otherwise(), soft);
        return (a, out) -> {
            for (int k = 0; k < tests.length; k++) {
                if (Values.truth(tests[k].eval(a))) {
                    return bodies[k].exec(a, out);
                }
            }
            return otherwise.exec(a, out);
        };
    }

    private static Exec setBlock(Ast.SetBlock s, Scope scope) {
        Symbols symbols = scope.symbols().inner();
        Names.declare(s.body(), symbols);
        Scope inner = scope.inner(symbols);
        Exec body = body(s.body(), inner);
        Store target = store(s.target(), scope.symbols());
        Buffer buffer = buffer(symbols);
        Eval value = buffer.filtered(s.filter(), inner);
        Frame enter = enter(symbols);
        Frame leave = leave(symbols);
        return (a, out) -> {
            enter.apply(a);
            StringBuilder own = new StringBuilder();
            End end = body.exec(a, own);
            if (end == End.NORMAL) {
                a.slots[buffer.slot] = own.toString();
                target.set(a, value.eval(a));
                leave.apply(a);
            }
            return end;
        };
    }

    private static Exec filterBlock(Ast.FilterBlock f, Scope scope) {
        Symbols symbols = scope.symbols().inner();
        Names.declare(f.body(), symbols);
        Names.read(f.filter(), symbols::load);
        Scope inner = scope.inner(symbols);
        Exec body = body(f.body(), inner);
        Buffer buffer = buffer(symbols);
        Eval value = buffer.filtered(f.filter(), inner);
        Frame enter = enter(symbols);
        Frame leave = leave(symbols);
        return (a, out) -> {
            enter.apply(a);
            StringBuilder own = new StringBuilder();
            End end = body.exec(a, own);
            if (end == End.NORMAL) {
                a.slots[buffer.slot] = own.toString();
                value.print(a, out);
                leave.apply(a);
            }
            return end;
        };
    }

    /** What a block wrote, in a variable that no template can name. */
    private record Buffer(int slot) {
        Eval filtered(@Nullable Expr filter, Scope scope) {
            Eval text =
                    a -> {
                        Object value = a.slots[slot];
                        return value != null ? value : "";
                    };
            return filter == null ? text : new ExpressionCompiler(scope).blockFilter(filter, text);
        }
    }

    private static Buffer buffer(Symbols symbols) {
        return new Buffer(symbols.unit.slot("buffer " + symbols.unit.size()));
    }

    private static Exec callBlock(Ast.CallBlock c, Scope scope) {
        MacroValue.Code code = MacroCompiler.compile("", c.signature(), scope);
        Eval caller = a -> new MacroValue(code, a);
        Ast.Call callee = c.call();
        if (callee == null) {
            return (a, out) -> {
                Object text = new MacroValue(code, a).call(a.run, Arguments.NONE);
                Eval.write(text, a.run, out);
                return End.NORMAL;
            };
        }
        Eval call = new ExpressionCompiler(scope).call(callee, caller);
        return (a, out) -> {
            call.print(a, out);
            return End.NORMAL;
        };
    }

    static Exec bodyOf(List<Stmt> statements, Scope scope) {
        return body(statements, scope);
    }

    static Store store(Target target, Symbols symbols) {
        switch (target) {
            case Ast.NameTarget n -> {
                int slot = slot(n.name(), symbols);
                return (a, value) -> a.slots[slot] = value;
            }
            case Ast.NamespaceTarget n -> {
                Eval namespace = namespaces(n, symbols)[0];
                String attribute = n.attribute();
                return (a, value) -> namespace(namespace, a).attributes().put(attribute, value);
            }
            case Ast.TupleTarget t -> {
                List<Store> stores = new ArrayList<>();
                t.items().forEach(item -> stores.add(store(item, symbols)));
                return (a, value) -> unpack(stores, a, value);
            }
        }
    }

    /** The namespaces whose attributes are set; looked at before the value is. */
    private static Eval[] namespaces(Target target, Symbols symbols) {
        return switch (target) {
            case Ast.NameTarget n -> new Eval[0];
            case Ast.NamespaceTarget n ->
                    new Eval[] {
                        ExpressionCompiler.compile(
                                new Ast.Name(n.name(), 0), new Scope(symbols, false, false))
                    };
            case Ast.TupleTarget t ->
                    t.items().stream()
                            .flatMap(item -> Stream.of(namespaces(item, symbols)))
                            .toArray(Eval[]::new);
        };
    }

    private static Namespace namespace(Eval name, Activation a) {
        if (name.eval(a) instanceof Namespace ns) {
            return ns;
        }
        throw TemplateException.failed("cannot assign attribute on non-namespace object");
    }

    private static void unpack(List<Store> stores, Activation a, Object value) {
        PyIterator it = Values.iterator(value, a.run);
        if (it == null) {
            throw TemplateException.failed(
                    "cannot unpack non-iterable " + Values.typeName(value) + " object");
        }
        List<Object> values = new ArrayList<>(stores.size());
        for (int i = 0; i < stores.size(); i++) {
            Object next = it.next();
            if (next == null) {
                throw TemplateException.failed(
                        "not enough values to unpack (expected %s, got %s)"
                                .formatted(stores.size(), i));
            }
            values.add(next);
        }
        if (it.next() != null) {
            throw TemplateException.failed(
                    "too many values to unpack (expected " + stores.size() + ")");
        }
        for (int i = 0; i < stores.size(); i++) {
            stores.get(i).set(a, values.get(i));
        }
    }

    /** The slot of a name that is set here, which is never another unit's. */
    static int slot(String name, Symbols symbols) {
        Symbols.Ref ref = symbols.find(name);
        if (ref == null || ref.unit() != symbols.unit) {
            throw new IllegalStateException(name + " is set outside its scope");
        }
        return ref.unit().slot(ref.ident());
    }

    static void apply(int[] slots, Activation a) {
        for (int slot : slots) {
            a.slots[slot] = null;
        }
    }

    private static Frame leave(Symbols symbols) {
        int[] slots = clear(symbols);
        return a -> apply(slots, a);
    }

    private static Frame enter(Symbols symbols) {
        Entry[] entries = entries(symbols);
        return a -> enter(entries, a);
    }

    /** All slots of a scope. */
    static int[] clear(Symbols symbols) {
        return symbols.loads().keySet().stream().mapToInt(symbols.unit::slot).toArray();
    }

    /** How one name gets its value when its scope is entered. */
    record Entry(int slot, Symbols.From from, String name, int levels, int copied) {}

    static Entry[] entries(Symbols symbols) {
        List<Entry> entries = new ArrayList<>();
        for (Map.Entry<String, Symbols.Load> e : symbols.loads().entrySet()) {
            Symbols.Load load = e.getValue();
            if (load.from() == Symbols.From.PARAMETER) {
                continue;
            }
            Symbols.Ref of = load.of();
            entries.add(
                    new Entry(
                            symbols.unit.slot(e.getKey()),
                            load.from(),
                            load.name(),
                            of == null ? 0 : symbols.unit.distance(of.unit()),
                            of == null ? 0 : of.unit().slot(of.ident())));
        }
        return entries.toArray(Entry[]::new);
    }

    static void enter(Entry[] entries, Activation a) {
        for (Entry e : entries) {
            a.slots[e.slot] =
                    switch (e.from) {
                        case CONTEXT -> a.run.variable(e.name);
                        case COPY -> a.out(e.levels).slots[e.copied];
                        case NOTHING, PARAMETER -> null;
                    };
        }
    }
}
