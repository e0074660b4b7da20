package io.warmpath.tokens.jinja;

import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A chat template, compiled once.
 *
 * <p>Renders what Python's Jinja2 renders in the set-up of Hugging Face's transformers: an
 * immutable sandbox, trim_blocks, lstrip_blocks, break and continue, {@code generation}, {@code
 * tojson} as Python's json.dumps, {@code raise_exception}, {@code strftime_now}. What is not known
 * here is refused, at load where it can be seen there, and never rendered in another way.
 *
 * <p>Immutable; any thread. Rendering costs some 10 ns per step and copies each text about twice.
 */
public final class Template {
    private final Compiler.Program program;
    private final TemplateFacts facts;

    private Template(Compiler.Program program, TemplateFacts facts) {
        this.program = program;
        this.facts = facts;
    }

    /**
     * @throws TemplateException SYNTAX or UNSUPPORTED, with the line
     */
    public static Template compile(String source) {
        List<Ast.Stmt> body = Parser.parse(source);
        return new Template(Compiler.compile(body), TemplateFacts.of(source, body));
    }

    /** What engines look for in it. */
    public TemplateFacts facts() {
        return facts;
    }

    /**
     * @param variables values of Java: String, Boolean, Integer, Long, BigInteger, Double, List,
     *     Map with string keys, and null for Python's None. A variable that is not there is
     *     undefined, which is something else than null.
     * @param clock for {@code strftime_now}, in the clock's zone
     * @throws TemplateException RAISED, FAILED, BUDGET, or UNSUPPORTED when a value turns out to be
     *     of a kind that is not known here
     */
    public String render(
            Map<String, ? extends @Nullable Object> variables, RenderLimits limits, Clock clock) {
        Map<String, Object> values = new HashMap<>();
        variables.forEach((name, value) -> values.put(name, Values.of(value)));
        Run run = new Run(values, limits, clock);
        Activation root = new Activation(program.slots(), null, run);
        StringBuilder out = new StringBuilder(1024);
        program.body().exec(root, out);
        return out.toString();
    }
}
