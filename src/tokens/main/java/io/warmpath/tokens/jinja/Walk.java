package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Args;
import io.warmpath.tokens.jinja.Ast.Expr;
import io.warmpath.tokens.jinja.Ast.Stmt;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Visits the nodes of a syntax tree in the order of the source, outer ones first. */
final class Walk {
    private Walk() {}

    /** All statements, those in bodies too. */
    static void statements(List<Stmt> body, Consumer<Stmt> visit) {
        for (Stmt s : body) {
            visit.accept(s);
            switch (s) {
                case Ast.If i -> {
                    i.branches().forEach(b -> statements(b.body(), visit));
                    statements(i.otherwise(), visit);
                }
                case Ast.For f -> {
                    statements(f.body(), visit);
                    statements(f.otherwise(), visit);
                }
                case Ast.SetBlock set -> statements(set.body(), visit);
                case Ast.FilterBlock f -> statements(f.body(), visit);
                case Ast.Macro m -> statements(m.signature().body(), visit);
                case Ast.CallBlock c -> statements(c.signature().body(), visit);
                case Ast.Text t -> {}
                case Ast.Print p -> {}
                case Ast.Set set -> {}
                case Ast.Break b -> {}
                case Ast.Continue c -> {}
            }
        }
    }

    /** A statement's own expressions and their parts; those of its body stay out. */
    static void expressions(Stmt s, Consumer<Expr> visit) {
        switch (s) {
            case Ast.Print p -> expression(p.value(), visit);
            case Ast.If i -> i.branches().forEach(b -> expression(b.test(), visit));
            case Ast.For f -> {
                expression(f.in(), visit);
                expression(f.test(), visit);
            }
            case Ast.Set set -> expression(set.value(), visit);
            case Ast.SetBlock set -> expression(set.filter(), visit);
            case Ast.FilterBlock f -> expression(f.filter(), visit);
            case Ast.Macro m -> all(m.signature().defaults(), visit);
            case Ast.CallBlock c -> {
                expression(c.call(), visit);
                all(c.signature().defaults(), visit);
            }
            case Ast.Text t -> {}
            case Ast.Break b -> {}
            case Ast.Continue c -> {}
        }
    }

    /** An expression and all of its parts. */
    static void expression(@Nullable Expr e, Consumer<Expr> visit) {
        if (e == null) {
            return;
        }
        visit.accept(e);
        switch (e) {
            case Ast.Const c -> {}
            case Ast.Name n -> {}
            case Ast.TupleOf t -> all(t.items(), visit);
            case Ast.ListOf l -> all(l.items(), visit);
            case Ast.DictOf d -> {
                all(d.keys(), visit);
                all(d.values(), visit);
            }
            case Ast.Choice c -> {
                expression(c.test(), visit);
                expression(c.then(), visit);
                expression(c.otherwise(), visit);
            }
            case Ast.And b -> both(b.left(), b.right(), visit);
            case Ast.Or b -> both(b.left(), b.right(), visit);
            case Ast.Not n -> expression(n.of(), visit);
            case Ast.Compare c -> {
                expression(c.first(), visit);
                all(c.rest(), visit);
            }
            case Ast.Binary b -> both(b.left(), b.right(), visit);
            case Ast.Concat c -> all(c.parts(), visit);
            case Ast.Sign s -> expression(s.of(), visit);
            case Ast.Attribute a -> expression(a.of(), visit);
            case Ast.Item i -> both(i.of(), i.key(), visit);
            case Ast.Slice s -> {
                expression(s.of(), visit);
                expression(s.start(), visit);
                expression(s.stop(), visit);
                expression(s.step(), visit);
            }
            case Ast.Call c -> {
                expression(c.callee(), visit);
                arguments(c.args(), visit);
            }
            case Ast.Filter f -> {
                expression(f.of(), visit);
                arguments(f.args(), visit);
            }
            case Ast.Test t -> {
                expression(t.of(), visit);
                arguments(t.args(), visit);
            }
        }
    }

    private static void both(Expr a, Expr b, Consumer<Expr> visit) {
        expression(a, visit);
        expression(b, visit);
    }

    private static void all(List<Expr> es, Consumer<Expr> visit) {
        es.forEach(e -> expression(e, visit));
    }

    private static void arguments(Args args, Consumer<Expr> visit) {
        all(args.positional(), visit);
        all(args.named(), visit);
        expression(args.star(), visit);
        expression(args.stars(), visit);
    }
}
