package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Expr;
import io.warmpath.tokens.jinja.Ast.Stmt;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Whether vLLM hands contents over as lists of parts: its search for a loop over a message's
 * content. It goes by names alone, whatever their scopes: {@code messages} and what is set to it;
 * the variables of loops over those, which are messages; their {@code content}; and the parameters
 * of a macro that get such a content in any call of that name, inside of that macro. Outside of
 * macros a variable {@code content} is one too. Where a loop or assignment that counts has another
 * target than one name, vLLM gives up and takes texts.
 */
final class VllmContents {
    private static final String CONTENT = "content";

    private final List<Ast.For> loops = new ArrayList<>();
    private final List<Ast.Set> sets = new ArrayList<>();
    private final List<Ast.Macro> macros = new ArrayList<>();
    private final List<Ast.Call> calls = new ArrayList<>();

    /** By the loop itself: equal ones may stand in several macros. */
    private final IdentityHashMap<Ast.For, Set<String>> inMacros = new IdentityHashMap<>();

    private VllmContents(List<Stmt> body) {
        Walk.statements(
                body,
                s -> {
                    switch (s) {
                        case Ast.For loop -> loops.add(loop);
                        case Ast.Set set -> sets.add(set);
                        case Ast.Macro macro -> macros.add(macro);
                        default -> {}
                    }
                    Walk.expressions(
                            s,
                            e -> {
                                if (e instanceof Ast.Call call) {
                                    calls.add(call);
                                }
                            });
                });
    }

    static boolean areParts(List<Stmt> body) {
        try {
            return new VllmContents(body).areParts();
        } catch (GivesUp e) {
            return false;
        }
    }

    private boolean areParts() {
        Set<String> messages = messages(lists());
        macros.forEach(macro -> enter(macro, messages));
        for (Ast.For loop : loops) {
            Set<String> handedOver = inMacros.getOrDefault(loop, Set.of(CONTENT));
            if (isContent(loop.in(), messages)
                    || (loop.in() instanceof Ast.Name n && handedOver.contains(n.name()))) {
                nameOf(loop.target());
                return true;
            }
        }
        return false;
    }

    private Set<String> lists() {
        Set<String> lists = new LinkedHashSet<>(Set.of("messages"));
        Deque<String> toDo = new ArrayDeque<>(lists);
        for (String name = toDo.poll(); name != null; name = toDo.poll()) {
            for (Ast.Set set : sets) {
                if (of(set.value()) instanceof Ast.Name n && n.name().equals(name)) {
                    String target = nameOf(set.target());
                    if (lists.add(target)) {
                        toDo.add(target);
                    }
                }
            }
        }
        return lists;
    }

    private Set<String> messages(Set<String> lists) {
        Set<String> messages = new HashSet<>();
        for (Ast.For loop : loops) {
            if (of(loop.in()) instanceof Ast.Name n && lists.contains(n.name())) {
                messages.add(nameOf(loop.target()));
            }
        }
        return messages;
    }

    /** Of a macro in a macro the inner one's parameters count, where it is handed a content. */
    private void enter(Ast.Macro macro, Set<String> messages) {
        List<String> params = macro.signature().params();
        Set<String> handedOver = new HashSet<>();
        for (Ast.Call call : calls) {
            if (call.callee() instanceof Ast.Name n && n.name().equals(macro.name())) {
                List<Expr> positional = call.args().positional();
                for (int i = 0; i < Math.min(positional.size(), params.size()); i++) {
                    if (isContent(positional.get(i), messages)) {
                        handedOver.add(params.get(i));
                    }
                }
                for (int i = 0; i < call.args().names().size(); i++) {
                    if (isContent(call.args().named().get(i), messages)) {
                        handedOver.add(call.args().names().get(i));
                    }
                }
            }
        }
        handedOver.retainAll(params);
        Walk.statements(
                macro.signature().body(),
                s -> {
                    if (s instanceof Ast.For loop) {
                        if (handedOver.isEmpty()) {
                            inMacros.putIfAbsent(loop, Collections.emptySet());
                        } else {
                            inMacros.put(loop, handedOver);
                        }
                    }
                });
    }

    /** A content of one of these messages, as it is, sliced, filtered or tested. */
    static boolean isContent(Expr e, Set<String> messages) {
        return switch (of(e)) {
            case Ast.Attribute a -> a.name().equals(CONTENT) && isOneOf(a.of(), messages);
            case Ast.Item i ->
                    i.key() instanceof Ast.Const c
                            && c.value().equals(CONTENT)
                            && isOneOf(i.of(), messages);
            default -> false;
        };
    }

    private static boolean isOneOf(Expr e, Set<String> names) {
        return e instanceof Ast.Name n && names.contains(n.name());
    }

    /** What is sliced, filtered or tested. */
    private static Expr of(Expr e) {
        return switch (e) {
            case Ast.Filter f when f.of() != null -> of(f.of());
            case Ast.Test t -> of(t.of());
            case Ast.Slice s -> of(s.of());
            default -> e;
        };
    }

    private static String nameOf(Ast.Target target) {
        if (target instanceof Ast.NameTarget n) {
            return n.name();
        }
        throw new GivesUp();
    }

    private static final class GivesUp extends RuntimeException {
        private static final long serialVersionUID = 1;

        GivesUp() {
            super("a target that is no name", null, false, false);
        }
    }
}
