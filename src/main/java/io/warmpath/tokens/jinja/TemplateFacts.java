package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Expr;
import io.warmpath.tokens.jinja.Ast.Stmt;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What engines look for in a template before they change messages for it. They look at its syntax,
 * not at what it does, and each in a way of its own, errors included.
 *
 * @param vllmParts vLLM hands contents over as lists of parts, even those that came as texts
 * @param sglangParts SGLang leaves lists of parts as lists; texts stay texts
 * @param variables all names that it reads
 * @param developer it names the role "developer"
 */
public record TemplateFacts(
        boolean vllmParts, boolean sglangParts, Set<String> variables, boolean developer) {
    private static final String CONTENT = "content";
    private static final String[] MEDIA = {"image", "audio", "video", "vision"};

    /** What SGLang takes for a message when something loops over its content. */
    private static final String[] MESSAGE_NAMES = {"message", "msg", "m"};

    public TemplateFacts {
        variables = Set.copyOf(variables);
    }

    static TemplateFacts of(String source, List<Stmt> body) {
        List<Ast.For> loops = new ArrayList<>();
        List<Ast.Set> sets = new ArrayList<>();
        Set<String> read = new HashSet<>();
        each(
                body,
                s -> {
                    expressions(s, e -> Names.read(e, read::add));
                    if (s instanceof Ast.For loop) {
                        loops.add(loop);
                    } else if (s instanceof Ast.Set set) {
                        sets.add(set);
                    }
                });
        return new TemplateFacts(
                vllm(loops, sets),
                sglang(source, loops),
                read,
                source.contains("\"developer\"") || source.contains("'developer'"));
    }

    private static boolean sglang(String source, List<Ast.For> loops) {
        for (String word : MEDIA) {
            if (source.contains(word)) {
                return true;
            }
        }
        for (Ast.For loop : loops) {
            for (String name : MESSAGE_NAMES) {
                if (isPartOf(loop.in(), name, CONTENT)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * A loop over the content of what a loop over the messages gives. Where a loop or assignment
     * that belongs to it has another target than one name, vLLM gives up and takes texts.
     */
    private static boolean vllm(List<Ast.For> loops, List<Ast.Set> sets) {
        Set<String> lists = new LinkedHashSet<>(Set.of("messages"));
        Deque<String> toDo = new ArrayDeque<>(lists);
        for (String name = toDo.poll(); name != null; name = toDo.poll()) {
            for (Ast.Set set : sets) {
                if (isPartOf(set.value(), name, null)) {
                    if (!(set.target() instanceof Ast.NameTarget target)) {
                        return false;
                    }
                    if (lists.add(target.name())) {
                        toDo.add(target.name());
                    }
                }
            }
        }
        Set<String> messages = new LinkedHashSet<>();
        for (Ast.For loop : loops) {
            if (isPartOfAny(loop.in(), lists, null)) {
                if (!(loop.target() instanceof Ast.NameTarget target)) {
                    return false;
                }
                messages.add(target.name());
            }
        }
        for (Ast.For loop : loops) {
            boolean over =
                    isPartOfAny(loop.in(), messages, CONTENT)
                            || (loop.in() instanceof Ast.Name n && n.name().equals(CONTENT));
            if (over) {
                return loop.target() instanceof Ast.NameTarget;
            }
        }
        return false;
    }

    private static boolean isPartOfAny(Expr e, Set<String> names, @Nullable String key) {
        return names.stream().anyMatch(name -> isPartOf(e, name, key));
    }

    /** The variable, or its member, as it is, sliced, filtered or tested. */
    private static boolean isPartOf(@Nullable Expr e, String name, @Nullable String key) {
        return switch (e) {
            case null -> false;
            case Ast.Filter f -> isPartOf(f.of(), name, key);
            case Ast.Test t -> isPartOf(t.of(), name, key);
            case Ast.Slice s -> isPartOf(s.of(), name, key);
            case Ast.Name n -> key == null && n.name().equals(name);
            case Ast.Attribute a -> a.name().equals(key) && isPartOf(a.of(), name);
            case Ast.Item i ->
                    i.key() instanceof Ast.Const c
                            && c.value().equals(key)
                            && isPartOf(i.of(), name);
            default -> false;
        };
    }

    private static boolean isPartOf(Expr e, String name) {
        return e instanceof Ast.Name n && n.name().equals(name);
    }

    /** All statements in the order of the source, outer ones first. */
    private static void each(List<Stmt> body, Consumer<Stmt> visit) {
        for (Stmt s : body) {
            visit.accept(s);
            switch (s) {
                case Ast.If i -> {
                    i.branches().forEach(b -> each(b.body(), visit));
                    each(i.otherwise(), visit);
                }
                case Ast.For f -> {
                    each(f.body(), visit);
                    each(f.otherwise(), visit);
                }
                case Ast.SetBlock set -> each(set.body(), visit);
                case Ast.FilterBlock f -> each(f.body(), visit);
                case Ast.Macro m -> each(m.signature().body(), visit);
                case Ast.CallBlock c -> each(c.signature().body(), visit);
                case Ast.Text t -> {}
                case Ast.Print p -> {}
                case Ast.Set set -> {}
                case Ast.Break b -> {}
                case Ast.Continue c -> {}
            }
        }
    }

    /** A statement's own expressions. */
    private static void expressions(Stmt s, Consumer<@Nullable Expr> visit) {
        switch (s) {
            case Ast.Print p -> visit.accept(p.value());
            case Ast.If i -> i.branches().forEach(b -> visit.accept(b.test()));
            case Ast.For f -> {
                visit.accept(f.in());
                visit.accept(f.test());
            }
            case Ast.Set set -> visit.accept(set.value());
            case Ast.SetBlock set -> visit.accept(set.filter());
            case Ast.FilterBlock f -> visit.accept(f.filter());
            case Ast.Macro m -> m.signature().defaults().forEach(visit);
            case Ast.CallBlock c -> {
                visit.accept(c.call());
                c.signature().defaults().forEach(visit);
            }
            case Ast.Text t -> {}
            case Ast.Break b -> {}
            case Ast.Continue c -> {}
        }
    }
}
