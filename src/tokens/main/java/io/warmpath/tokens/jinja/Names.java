package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Expr;
import io.warmpath.tokens.jinja.Ast.Stmt;
import io.warmpath.tokens.jinja.Ast.Target;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Which names a piece of a template reads and sets. */
final class Names {
    private Names() {}

    /** All names that an expression reads. */
    static void read(@Nullable Expr e, Consumer<String> use) {
        Walk.expression(
                e,
                part -> {
                    if (part instanceof Ast.Name n) {
                        use.accept(n.name());
                    }
                });
    }

    static void set(Target target, Consumer<String> use) {
        switch (target) {
            case Ast.NameTarget n -> use.accept(n.name());
            case Ast.TupleTarget t -> t.items().forEach(i -> set(i, use));
            case Ast.NamespaceTarget n -> {}
        }
    }

    /** Whether a body reads a name before it sets it, in the order of the source. */
    static boolean readsFirst(List<Stmt> body, String name) {
        Search search = new Search(name);
        body.forEach(search::statement);
        return search.read;
    }

    /** Whether a body sets the name somewhere; parameters of macros do not count. */
    static boolean sets(List<Stmt> body, Target target, String name) {
        Set<String> all = new HashSet<>();
        set(target, all::add);
        Search search = new Search(name);
        body.forEach(search::statement);
        return all.contains(name) || search.everSet;
    }

    private static final class Search {
        private final String name;
        private boolean read;
        private boolean set;
        private boolean everSet;

        Search(String name) {
            this.name = name;
        }

        private void expression(@Nullable Expr e) {
            Names.read(e, n -> read |= n.equals(name) && !set);
        }

        private void target(Target target) {
            Names.set(
                    target,
                    n -> {
                        set |= n.equals(name) && !read;
                        everSet |= n.equals(name);
                    });
        }

        private void signature(Ast.Signature s) {
            set |= s.params().contains(name) && !read;
            s.defaults().forEach(this::expression);
            s.body().forEach(this::statement);
        }

        void statement(Stmt s) {
            switch (s) {
                case Ast.Text t -> {}
                case Ast.Break b -> {}
                case Ast.Continue c -> {}
                case Ast.Print p -> expression(p.value());
                case Ast.If i -> {
                    for (Ast.Branch b : i.branches()) {
                        expression(b.test());
                        b.body().forEach(this::statement);
                    }
                    i.otherwise().forEach(this::statement);
                }
                case Ast.For f -> {
                    target(f.target());
                    expression(f.in());
                    f.body().forEach(this::statement);
                    f.otherwise().forEach(this::statement);
                    expression(f.test());
                }
                case Ast.Set set -> {
                    target(set.target());
                    expression(set.value());
                }
                case Ast.SetBlock set -> {
                    target(set.target());
                    expression(set.filter());
                    set.body().forEach(this::statement);
                }
                case Ast.Macro m -> signature(m.signature());
                case Ast.CallBlock c -> {
                    expression(c.call());
                    signature(c.signature());
                }
                case Ast.FilterBlock f -> {
                    f.body().forEach(this::statement);
                    expression(f.filter());
                }
            }
        }
    }

    /** Puts the names of statements into a scope; what lies in scopes of its own stays out. */
    static void declare(List<Stmt> body, Symbols into) {
        for (Stmt s : body) {
            switch (s) {
                case Ast.Text t -> {}
                case Ast.Break b -> {}
                case Ast.Continue c -> {}
                case Ast.Print p -> read(p.value(), into::load);
                case Ast.If i -> branches(i.branches(), i.otherwise(), into);
                case Ast.For f -> read(f.in(), into::load);
                case Ast.Set set -> {
                    read(set.value(), into::load);
                    target(set.target(), into);
                }
                case Ast.SetBlock set -> target(set.target(), into);
                case Ast.Macro m -> into.store(m.name());
                case Ast.CallBlock c -> read(c.call(), into::load);
                case Ast.FilterBlock f -> read(f.filter(), into::load);
            }
        }
    }

    private static void target(Target target, Symbols into) {
        switch (target) {
            case Ast.NameTarget n -> into.store(n.name());
            case Ast.TupleTarget t -> t.items().forEach(i -> target(i, into));
            case Ast.NamespaceTarget n -> into.load(n.name());
        }
    }

    private static void branches(List<Ast.Branch> branches, List<Stmt> otherwise, Symbols into) {
        Ast.Branch first = branches.get(0);
        read(first.test(), into::load);
        Symbols body = into.copy();
        declare(first.body(), body);
        Symbols elifs = into.copy();
        for (Ast.Branch b : branches.subList(1, branches.size())) {
            branches(List.of(b), List.of(), elifs);
        }
        Symbols rest = into.copy();
        declare(otherwise, rest);
        into.merge(List.of(body, elifs, rest));
    }
}
