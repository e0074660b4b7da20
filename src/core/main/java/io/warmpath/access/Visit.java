package io.warmpath.access;

import org.jspecify.annotations.Nullable;

/**
 * One request of a known client: whose it is, and what it has cost so far. On the request's event
 * loop, but {@link #allows} and {@link #salt} on any thread.
 */
public final class Visit {
    private static final double NANOS_PER_SECOND = 1e9;

    /** Of English; a guess that a count replaces. */
    private static final int BYTES_PER_TOKEN = 4;

    private final Caller caller;
    private final String tenant;
    private boolean counts;
    private long guessed; // tokens of the prompt, by its bytes
    private long charged;

    /**
     * A limit that is used up.
     *
     * @param what {@code requests} or {@code tokens}
     * @param nanos until it is enough again
     */
    public record Exceeded(String what, long limit, long nanos) {}

    /** {@code tenant}: empty: none. */
    public Visit(Caller caller, String tenant) {
        this.caller = caller;
        this.tenant = tenant;
    }

    public Caller caller() {
        return caller;
    }

    /** Whose request it is; empty: nobody's in particular. */
    public String tenant() {
        return tenant;
    }

    /** Whom this request counts for when turns are taken: its tenant, or else its client alone. */
    public String turnsOf() {
        return tenant.isEmpty() ? "key:" + caller.grant().name() : tenant;
    }

    public boolean allows(String model) {
        return caller.grant().allows(model);
    }

    /**
     * Takes this request, and the tokens that its prompt will need as far as that can be guessed.
     *
     * @param bodyBytes as many as are known of; -1: the request costs no tokens but the one that
     *     has to be left
     * @return null when both were there, and nothing taken otherwise
     */
    public @Nullable Exceeded enter(long bodyBytes) {
        counts = bodyBytes >= 0;
        guessed = Math.max(0, bodyBytes) / BYTES_PER_TOKEN;
        long now = caller.now();
        Budget requests = caller.requests();
        long wait = requests == null ? 0 : requests.take(1, now);
        if (requests != null && wait > 0) {
            return new Exceeded("requests", requests.limit(), wait);
        }
        Budget tokens = caller.tokens();
        if (tokens != null) {
            long guess = Math.max(1, Math.min(guessed, tokens.limit()));
            wait = tokens.take(guess, now);
            if (wait > 0) {
                if (requests != null) {
                    requests.charge(-1, now);
                }
                return new Exceeded("tokens", tokens.limit(), wait);
            }
            charged = guess;
        }
        return null;
    }

    /**
     * More of the body has come than was known of: takes what is missing for its prompt.
     *
     * @param bodyBytes all that has come
     * @return null when that was there, or nothing is missing; otherwise nothing more is taken
     */
    public @Nullable Exceeded reserve(long bodyBytes) {
        Budget tokens = caller.tokens();
        long guess = bodyBytes / BYTES_PER_TOKEN;
        if (tokens == null || !counts || guess <= guessed) {
            return null;
        }
        long more = Math.min(guess, tokens.limit()) - charged;
        long wait = more > 0 ? tokens.take(more, caller.now()) : 0;
        if (wait > 0) {
            return new Exceeded("tokens", tokens.limit(), wait);
        }
        guessed = guess;
        charged += Math.max(0, more);
        return null;
    }

    /** Tokens of the prompt by its bytes, for when nobody has counted them. */
    public long guessed() {
        return guessed;
    }

    /** What it really cost in tokens; a later word replaces an earlier one. */
    public void used(long total) {
        Budget tokens = caller.tokens();
        if (tokens != null && total != charged) {
            tokens.charge(total - charged, caller.now());
            charged = total;
        }
    }

    /** The request was refused or failed without an answer: it has cost no tokens. */
    public void unused() {
        used(0);
    }

    /**
     * Keeps caches of tenants apart, and of those of one tenant as its clients want it. No two
     * pairs of tenant and salt have the same: a tenant has no colon.
     *
     * @param own the client's salt, maybe empty
     */
    public String salt(String own) {
        return own.isEmpty() ? tenant : tenant + ':' + own;
    }

    /** Receives the headers that tell a client about its limits. */
    @FunctionalInterface
    public interface Headers {
        void put(String name, String value);
    }

    /** As OpenAI names them; none where there is no limit. */
    public void tell(Headers headers) {
        long now = caller.now();
        tell(headers, caller.requests(), "requests", now);
        tell(headers, caller.tokens(), "tokens", now);
    }

    private static void tell(Headers headers, @Nullable Budget budget, String what, long now) {
        if (budget != null) {
            headers.put("x-ratelimit-limit-" + what, Long.toString(budget.limit()));
            headers.put("x-ratelimit-remaining-" + what, Long.toString(budget.remaining(now)));
            headers.put("x-ratelimit-reset-" + what, span(budget.untilFull(now)));
        }
    }

    /** {@code 6m0s}, {@code 1.25s}, {@code 17ms}: the form of OpenAI's headers. */
    static String span(long nanos) {
        long millis = Math.ceilDiv(nanos, 1_000_000L);
        if (millis < 1000) {
            return millis + "ms";
        }
        long minutes = millis / 60_000;
        double seconds = (millis % 60_000) * 1_000_000L / NANOS_PER_SECOND;
        String s = seconds == Math.rint(seconds) ? Long.toString((long) seconds) : "" + seconds;
        return minutes == 0 ? s + "s" : minutes + "m" + s + "s";
    }
}
