package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Expr;
import io.warmpath.tokens.jinja.Ast.Stmt;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether a template may loop over the parts of a message's content. Engines that see such a loop
 * hand plain texts over as a list of one part; the answer here is yes rather too often.
 */
final class ContentParts {
    private static final String CONTENT = "content";

    /** Variables that may hold a content. */
    private final Set<String> holders = new HashSet<>();

    private boolean loops;

    private ContentParts() {}

    static boolean loopedOver(List<Stmt> template) {
        ContentParts parts = new ContentParts();
        int before;
        do { // a variable may be set below the loop that reads it
            before = parts.holders.size();
            parts.statements(template);
        } while (parts.holders.size() > before);
        return parts.loops;
    }

    private void statements(List<Stmt> body) {
        for (Stmt s : body) {
            switch (s) {
                case Ast.If i -> {
                    i.branches().forEach(b -> statements(b.body()));
                    statements(i.otherwise());
                }
                case Ast.For f -> {
                    loops |= mayBeContent(f.in());
                    statements(f.body());
                    statements(f.otherwise());
                }
                case Ast.Set set -> {
                    if (mayBeContent(set.value())) {
                        Names.set(set.target(), holders::add);
                        if (set.target() instanceof Ast.NamespaceTarget ns) {
                            holders.add(ns.attribute());
                        }
                    }
                }
                case Ast.SetBlock set -> statements(set.body());
                case Ast.FilterBlock f -> statements(f.body());
                case Ast.Macro m -> {
                    holders.addAll(m.signature().params());
                    statements(m.signature().body());
                }
                case Ast.CallBlock c -> statements(c.signature().body());
                case Ast.Text t -> {}
                case Ast.Print p -> {}
                case Ast.Break b -> {}
                case Ast.Continue c -> {}
            }
        }
    }

    /** The content, an attribute called so, or one of them sliced, filtered or chosen. */
    private boolean mayBeContent(@Nullable Expr e) {
        return switch (e) {
            case null -> false;
            case Ast.Name n -> holders.contains(n.name());
            case Ast.Attribute a -> a.name().equals(CONTENT) || holders.contains(a.name());
            case Ast.Item i ->
                    (i.key() instanceof Ast.Const c && CONTENT.equals(c.value()))
                            || mayBeContent(i.of());
            case Ast.Slice s -> mayBeContent(s.of());
            case Ast.Filter f -> mayBeContent(f.of());
            case Ast.Choice c -> mayBeContent(c.then()) || mayBeContent(c.otherwise());
            case Ast.Or o -> mayBeContent(o.left()) || mayBeContent(o.right());
            case Ast.And a -> mayBeContent(a.left()) || mayBeContent(a.right());
            case Ast.Binary b -> mayBeContent(b.left()) || mayBeContent(b.right());
            case Ast.Call c ->
                    mayBeContent(c.callee())
                            || c.args().positional().stream()
                                    .anyMatch(
                                            a ->
                                                    a instanceof Ast.Const k
                                                            && CONTENT.equals(k.value()));
            default -> false;
        };
    }
}
