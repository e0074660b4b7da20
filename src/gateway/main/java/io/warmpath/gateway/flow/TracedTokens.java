package io.warmpath.gateway.flow;

import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.routing.NotExact;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Tells the trace of a request when its tokens were known, and when the pools answered. */
final class TracedTokens implements TokenStep.Next {
    private final Tracing.Trace trace;
    private final RequestScope scope;
    private final BooleanSupplier over;
    private final TokenStep.Next next;
    private long since;
    private String step = "tokenise";

    /** {@code over}: the request needs no tokens any more. */
    TracedTokens(
            Tracing.Trace trace, RequestScope scope, BooleanSupplier over, TokenStep.Next next) {
        this.trace = trace;
        this.scope = scope;
        this.over = over;
        this.next = next;
        this.since = scope.started();
    }

    @Override
    public void asksPools() {
        next("pool");
    }

    @Override
    public void tokens(@Nullable EnginePrompts tokens) {
        made();
        next.tokens(tokens);
    }

    @Override
    public void without(NotExact why) {
        made();
        next.without(why);
    }

    private void made() {
        if (!over.getAsBoolean()) {
            next("");
        }
    }

    private void next(String following) {
        long now = scope.now();
        trace.step(step, since, now);
        since = now;
        step = following;
    }
}
