package io.warmpath.tokens.jinja;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The syntax tree of a template. Immutable; lines are 1-based and for messages. */
final class Ast {
    private Ast() {}

    sealed interface Expr {
        int line();
    }

    record Const(Object value, int line) implements Expr {}

    record Name(String name, int line) implements Expr {}

    record TupleOf(List<Expr> items, int line) implements Expr {}

    record ListOf(List<Expr> items, int line) implements Expr {}

    record DictOf(List<Expr> keys, List<Expr> values, int line) implements Expr {}

    /** {@code then if test else otherwise}. */
    record Choice(Expr test, Expr then, @Nullable Expr otherwise, int line) implements Expr {}

    record And(Expr left, Expr right, int line) implements Expr {}

    record Or(Expr left, Expr right, int line) implements Expr {}

    record Not(Expr of, int line) implements Expr {}

    /** {@code first op rest op rest}, chained as in Python. */
    record Compare(Expr first, List<String> ops, List<Expr> rest, int line) implements Expr {}

    record Binary(String op, Expr left, Expr right, int line) implements Expr {}

    /** {@code a ~ b ~ c}. */
    record Concat(List<Expr> parts, int line) implements Expr {}

    /** Sign: {@code -} or {@code +}. */
    record Sign(String op, Expr of, int line) implements Expr {}

    record Attribute(Expr of, String name, int line) implements Expr {}

    record Item(Expr of, Expr key, int line) implements Expr {}

    record Slice(Expr of, @Nullable Expr start, @Nullable Expr stop, @Nullable Expr step, int line)
            implements Expr {}

    record Call(Expr callee, Args args, int line) implements Expr {}

    /** {@code of} is null in a filter block: what the block wrote. */
    record Filter(@Nullable Expr of, String name, Args args, int line) implements Expr {}

    record Test(Expr of, String name, Args args, int line) implements Expr {}

    /** Arguments of a call; {@code star} is {@code *list}, {@code stars} is {@code **dict}. */
    record Args(
            List<Expr> positional,
            List<String> names,
            List<Expr> named,
            @Nullable Expr star,
            @Nullable Expr stars) {
        static final Args NONE = new Args(List.of(), List.of(), List.of(), null, null);
    }

    /** What can stand left of {@code =} or after {@code for}. */
    sealed interface Target {}

    record NameTarget(String name) implements Target {}

    /** {@code namespace.attribute}. */
    record NamespaceTarget(String name, String attribute) implements Target {}

    record TupleTarget(List<Target> items) implements Target {}

    sealed interface Stmt {}

    record Text(String text) implements Stmt {}

    record Print(Expr value) implements Stmt {}

    record Branch(Expr test, List<Stmt> body) {}

    record If(List<Branch> branches, List<Stmt> otherwise) implements Stmt {}

    record For(
            Target target,
            Expr in,
            @Nullable Expr test,
            List<Stmt> body,
            List<Stmt> otherwise,
            int line)
            implements Stmt {}

    record Set(Target target, Expr value) implements Stmt {}

    record SetBlock(Target target, @Nullable Expr filter, List<Stmt> body) implements Stmt {}

    /** Parameters and body of a macro or call block; the last parameters have the defaults. */
    record Signature(List<String> params, List<Expr> defaults, List<Stmt> body, int line) {}

    record Macro(String name, Signature signature) implements Stmt {}

    /** {@code call} is null for {@code generation}, which only prints its body. */
    record CallBlock(@Nullable Call call, Signature signature, int line) implements Stmt {}

    record FilterBlock(Expr filter, List<Stmt> body) implements Stmt {}

    record Break(int line) implements Stmt {}

    record Continue(int line) implements Stmt {}
}
