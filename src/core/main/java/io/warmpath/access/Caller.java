package io.warmpath.access;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A known client: what it may do and what it has left of it. Any thread. */
public final class Caller implements Verdict {
    private final Grant grant;
    private final @Nullable Budget requests;
    private final @Nullable Budget tokens;
    private final LongSupplier nanoTime;

    public Caller(Grant grant, Budgets budgets, LongSupplier nanoTime) {
        this.grant = grant;
        this.nanoTime = nanoTime;
        Budgets.Pair pair = budgets.of(grant, nanoTime.getAsLong());
        this.requests = pair.requests();
        this.tokens = pair.tokens();
    }

    public Grant grant() {
        return grant;
    }

    /** Null: no limit. */
    public @Nullable Budget requests() {
        return requests;
    }

    /** Null: no limit. */
    public @Nullable Budget tokens() {
        return tokens;
    }

    long now() {
        return nanoTime.getAsLong();
    }
}
