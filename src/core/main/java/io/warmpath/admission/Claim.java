package io.warmpath.admission;

import io.warmpath.fleet.Candidate;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a request brings to the queue. Frozen when it arrives.
 *
 * @param tenant whose it is
 * @param family policy family it names, may be empty
 * @param tokens of its prompt, 0 when not known
 * @param cachedTokens of them on the best rank
 * @param priority see {@link QueuePolicy}
 * @param strictPriority goes before everything of a lower one in its class
 * @param eligible the ranks it may go to now, none when all are busy, null when there is none to
 *     wait for; called on any thread, must be quick
 */
public record Claim(
        Tenant tenant,
        String family,
        int tokens,
        int cachedTokens,
        double priority,
        int strictPriority,
        Supplier<? extends @Nullable List<Candidate>> eligible) {

    long uncachedTokens() {
        return Math.max(0, tokens - cachedTokens);
    }

    /** What it takes from its class's deficit, and its tenant is charged when it starts. */
    long cost() {
        return Math.max(1, uncachedTokens());
    }
}
