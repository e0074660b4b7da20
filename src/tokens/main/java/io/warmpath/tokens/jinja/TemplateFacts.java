package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Stmt;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

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
    private static final List<String> MEDIA = List.of("image", "audio", "video", "vision");

    /** What SGLang takes for a message when something loops over its content. */
    private static final Set<String> MESSAGE_NAMES = Set.of("message", "msg", "m");

    public TemplateFacts {
        variables = Set.copyOf(variables);
    }

    static TemplateFacts of(String source, List<Stmt> body) {
        Set<String> read = new HashSet<>();
        boolean[] loopsOverContent = new boolean[1];
        Walk.statements(
                body,
                s -> {
                    Walk.expressions(
                            s,
                            e -> {
                                if (e instanceof Ast.Name n) {
                                    read.add(n.name());
                                }
                            });
                    if (s instanceof Ast.For loop) {
                        loopsOverContent[0] |= VllmContents.isContent(loop.in(), MESSAGE_NAMES);
                    }
                });
        return new TemplateFacts(
                VllmContents.areParts(body),
                loopsOverContent[0] || MEDIA.stream().anyMatch(source::contains),
                read,
                source.contains("\"developer\"") || source.contains("'developer'"));
    }
}
