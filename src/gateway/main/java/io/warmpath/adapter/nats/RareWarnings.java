package io.warmpath.adapter.nats;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Says which warnings are new: what comes with every try, or in ever other words, is worth a line
 * now and then. Each text once in a minute, and {@value #MOST} of them. Any thread.
 */
final class RareWarnings {
    static final Duration EVERY = Duration.ofMinutes(1);
    static final int MOST = 5;

    private final LongSupplier nanoTime;
    private final Set<String> said = new HashSet<>(); // guarded by this, as the one below
    private long began;

    /** {@code nanoTime}: as {@link System#nanoTime}. */
    RareWarnings(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.began = nanoTime.getAsLong();
    }

    /** Whether to say it. */
    synchronized boolean isNew(String text) {
        long now = nanoTime.getAsLong();
        if (now - began >= EVERY.toNanos()) {
            began = now;
            said.clear();
        }
        return said.size() < MOST && said.add(text);
    }
}
