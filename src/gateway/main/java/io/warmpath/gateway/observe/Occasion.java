package io.warmpath.gateway.observe;

/**
 * Whose request is decided on, and when in its life.
 *
 * @param tenant empty: none
 * @param traceId as {@link TraceIds}; empty: none
 * @param attempt which decision on the request this is, from 1
 */
public record Occasion(String tenant, String traceId, int attempt, DecisionCause cause) {
    /** The same moment, for another reason. */
    public Occasion because(DecisionCause other) {
        return new Occasion(tenant, traceId, attempt, other);
    }
}
