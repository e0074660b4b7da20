package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Expr;
import io.warmpath.tokens.jinja.Compiler.Entry;
import io.warmpath.tokens.jinja.Compiler.Store;
import io.warmpath.tokens.jinja.Exec.End;
import org.jspecify.annotations.Nullable;

/** {@code for} loops. */
final class LoopCompiler {
    private LoopCompiler() {}

    /** The {@code if} of a loop: which elements take part. Runs ahead of the body. */
    private record Filter(Entry[] enter, Store target, Eval test) {
        /** Read lazily; what an element is tested with is looked up when the first one is read. */
        PyIterator over(PyIterator items, Activation a) {
            boolean[] entered = new boolean[1];
            return new PyIterator(
                    () -> {
                        if (!entered[0]) {
                            entered[0] = true;
                            Compiler.enter(enter, a);
                        }
                        for (Object v = items.next(); v != null; v = items.next()) {
                            a.run.step();
                            target.set(a, v);
                            if (Values.truth(test.eval(a))) {
                                return v;
                            }
                        }
                        return null;
                    });
        }
    }

    static Exec compile(Ast.For f, Scope scope) {
        if (Names.sets(f.body(), f.target(), "loop")
                || Names.sets(f.otherwise(), f.target(), "loop")) {
            throw TemplateException.syntax(
                    f.line(), "Can't assign to special loop variable in for-loop target");
        }
        Symbols symbols = scope.symbols().inner();
        boolean extended = Names.readsFirst(f.body(), "loop");
        if (extended) {
            symbols.parameter("loop");
        }
        Names.set(f.target(), symbols::parameter);
        Names.declare(f.body(), symbols);
        Eval in = ExpressionCompiler.compile(f.in(), scope);
        Filter filter = filter(f, scope);
        Store target = Compiler.store(f.target(), symbols);
        Exec body = Compiler.bodyOf(f.body(), new Scope(symbols, false, true));
        int loopSlot = extended ? Compiler.slot("loop", symbols) : -1;
        Entry[] enter = Compiler.entries(symbols);
        int[] clear = Compiler.clear(symbols);
        Exec otherwise = otherwise(f, scope);
        boolean hasOtherwise = !f.otherwise().isEmpty();
        return (a, out) -> {
            Object over = in.eval(a);
            PyIterator items = Values.iterate(over, a.run);
            if (filter != null) {
                items = filter.over(items, a);
                over = items;
            }
            LoopContext loop = extended ? new LoopContext(over, items, a.run) : null;
            boolean none = true;
            while (true) {
                Object item = loop == null ? items.next() : loop.next();
                if (item == null) {
                    break;
                }
                a.run.step();
                target.set(a, item);
                if (loop != null) {
                    a.slots[loopSlot] = loop;
                }
                Compiler.enter(enter, a);
                End end = body.exec(a, out);
                if (end == End.BREAK) {
                    break;
                }
                // As Jinja has it: an iteration that was cut short does not count.
                none &= end == End.CONTINUE;
            }
            Compiler.apply(clear, a);
            return hasOtherwise && none ? otherwise.exec(a, out) : End.NORMAL;
        };
    }

    private static @Nullable Filter filter(Ast.For f, Scope scope) {
        Expr test = f.test();
        if (test == null) {
            return null;
        }
        Symbols symbols = scope.symbols().ahead();
        Names.set(f.target(), symbols::parameter);
        Names.read(test, symbols::load);
        return new Filter(
                Compiler.entries(symbols),
                Compiler.store(f.target(), symbols),
                ExpressionCompiler.compile(test, new Scope(symbols, false, false)));
    }

    private static Exec otherwise(Ast.For f, Scope scope) {
        Symbols symbols = scope.symbols().inner();
        Names.declare(f.otherwise(), symbols);
        Exec body = Compiler.bodyOf(f.otherwise(), scope.inner(symbols));
        Entry[] enter = Compiler.entries(symbols);
        int[] clear = Compiler.clear(symbols);
        return (a, out) -> {
            Compiler.enter(enter, a);
            End end = body.exec(a, out);
            if (end == End.NORMAL) {
                Compiler.apply(clear, a);
            }
            return end;
        };
    }
}
