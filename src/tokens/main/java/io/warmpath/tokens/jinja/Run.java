package io.warmpath.tokens.jinja;

import java.time.Clock;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One rendering: its variables, its clock and what it has spent. One thread. */
final class Run {
    /** Macros in macros; each takes up to 6 kB of the thread's stack. */
    private static final int MAX_CALLS = 64;

    final Clock clock;
    private final Map<String, Object> variables;
    private final RenderLimits limits;
    private long steps;
    private long chars;
    private int calls;

    Run(Map<String, Object> variables, RenderLimits limits, Clock clock) {
        this.variables = variables;
        this.limits = limits;
        this.clock = clock;
    }

    @Nullable Object variable(String name) {
        Object value = variables.get(name);
        return value != null ? value : Globals.FUNCTIONS.get(name);
    }

    void step() {
        if (++steps > limits.maxSteps()) {
            throw tooMuch("does too much: over " + limits.maxSteps() + " steps");
        }
    }

    /** Pays for looking at a text. */
    void scan(long length) {
        steps += 1 + (length >> 5);
        if (steps > limits.maxSteps()) {
            throw tooMuch("does too much: over " + limits.maxSteps() + " steps");
        }
    }

    /** Pays for a text, before it is made. */
    void make(long length) {
        scan(length);
        chars += length;
        if (chars > limits.maxChars()) {
            throw tooMuch("writes too much: over " + limits.maxChars() + " characters");
        }
    }

    String made(String text) {
        make(text.length());
        return text;
    }

    void enter() {
        step();
        if (++calls > MAX_CALLS) {
            throw tooMuch("calls its macros too deep: over " + MAX_CALLS + " levels");
        }
    }

    void leave() {
        calls--;
    }

    private static TemplateException tooMuch(String what) {
        return new TemplateException(TemplateException.Kind.BUDGET, "the template " + what);
    }
}
