package io.warmpath.session;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How much work for prompts that have not come yet a worker gets: so many at once, and so many
 * tokens a second, saved up for one second at most. Any thread; a short critical section.
 */
public final class PrefillBudget {
    private static final double NANOS_PER_SECOND = 1e9;

    /**
     * @param concurrency prompts at once, per worker; 0: none at all
     * @param tokensPerSecond new tokens, per worker
     * @param maxBacklog prompt tokens that users' requests still have to be prefilled, beyond which
     *     a worker gets nothing
     */
    public record Options(int concurrency, int tokensPerSecond, int maxBacklog) {
        public static final Options OFF = new Options(0, 1, 0);

        public Options {
            if (concurrency < 0 || tokensPerSecond < 1 || maxBacklog < 0) {
                throw new IllegalArgumentException(
                        concurrency + ", " + tokensPerSecond + ", " + maxBacklog);
            }
        }
    }

    private final Options options;
    private final LongSupplier nanoTime;

    // By worker id; guarded by this. A worker that has left keeps its few bytes.
    private final Map<Long, Account> accounts = new HashMap<>();

    private static final class Account {
        private int running;
        private double tokens;
        private long filledAt;

        Account(double tokens, long now) {
            this.tokens = tokens;
            this.filledAt = now;
        }
    }

    /** {@code nanoTime}: as {@link System#nanoTime}. */
    public PrefillBudget(Options options, LongSupplier nanoTime) {
        this.options = options;
        this.nanoTime = nanoTime;
    }

    /** Allows nothing. */
    public static PrefillBudget off() {
        return new PrefillBudget(Options.OFF, () -> 0);
    }

    public boolean on() {
        return options.concurrency() > 0;
    }

    /** Whether users' requests leave the worker no time. */
    public boolean isBusy(long backlogTokens) {
        return backlogTokens > options.maxBacklog();
    }

    /**
     * Takes a place and its tokens; to be given back by {@link #done}. A prompt of more than a
     * second's tokens passes when the account is full, and leaves a debt.
     *
     * @return false when there is none
     */
    public synchronized boolean take(long worker, int tokens) {
        long now = nanoTime.getAsLong();
        double most = options.tokensPerSecond();
        Account a = accounts.computeIfAbsent(worker, w -> new Account(most, now));
        a.tokens =
                Math.min(
                        most,
                        a.tokens
                                + (now - a.filledAt)
                                        / NANOS_PER_SECOND
                                        * options.tokensPerSecond());
        a.filledAt = now;
        if (a.running >= options.concurrency() || a.tokens < Math.min(tokens, most)) {
            return false;
        }
        a.running++;
        a.tokens -= tokens;
        return true;
    }

    /** It has been done, or failed. Once for each {@link #take} that was granted. */
    public synchronized void done(long worker) {
        Account a = accounts.get(worker);
        if (a == null || a.running == 0) {
            throw new IllegalStateException("nothing runs on " + worker);
        }
        a.running--;
    }
}
