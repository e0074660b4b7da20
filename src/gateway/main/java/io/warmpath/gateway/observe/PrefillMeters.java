package io.warmpath.gateway.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** Meters of prompts that are computed before their requests come. Any thread. */
public final class PrefillMeters {
    /** What became of one. */
    public enum Result {
        /** The engine has computed it. */
        OK,
        /** The engine has refused it, or could not be reached. */
        FAILED,
        /** Users' requests leave the worker no time. */
        BUSY,
        /** Too many, or too many tokens, for this worker already. */
        BUDGET,
        /** The tokenising queue was full. */
        QUEUE_FULL,
        /** Its tokens are not known, or the engine may not take them. */
        UNKNOWN,
        /** The answer before it was too long to be kept. */
        TOO_LONG
    }

    private final EnumCounters<Result> results;
    private final Counter tokens;
    private final Counter hits;

    PrefillMeters(MeterRegistry registry) {
        results =
                new EnumCounters<>(
                        registry,
                        Result.class,
                        "result",
                        "warmpath.prefill.ahead",
                        "Prompts of next turns that clients asked to have computed ahead");
        tokens =
                Counter.builder("warmpath.prefill.ahead.tokens")
                        .description(
                                "Tokens of such prompts beyond those of the turn before, computed")
                        .register(registry);
        hits =
                Counter.builder("warmpath.prefill.ahead.hit.tokens")
                        .description(
                                "Of these tokens, those that the next turn's engine reported as"
                                        + " cached")
                        .register(registry);
    }

    public void ended(Result result) {
        results.count(result);
    }

    /** A next turn's prompt was computed; this many of its tokens were new. */
    public void computed(int newTokens) {
        ended(Result.OK);
        tokens.increment(newTokens);
    }

    /** So many tokens that were computed ahead have been found by the next turn. */
    public void found(int cachedTokens) {
        hits.increment(cachedTokens);
    }
}
