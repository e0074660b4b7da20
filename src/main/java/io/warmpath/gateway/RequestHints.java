package io.warmpath.gateway;

import org.jspecify.annotations.Nullable;

/**
 * What the client says about the urgency and the size of its request.
 *
 * @param priority more important when higher; in the queue it is worth that many seconds of waiting
 * @param strictPriority a tier above everything of a lower one
 * @param expectedOutput tokens the answer will probably have; 0 when not said
 * @param policyClass family of policy classes; empty when not said
 * @param speculativePrefill the next turn's prompt is to be computed ahead
 * @param enginePriority what the engine is to be told, more important when higher; null: nothing
 */
public record RequestHints(
        double priority,
        int strictPriority,
        int expectedOutput,
        String policyClass,
        boolean speculativePrefill,
        @Nullable Integer enginePriority) {
    public static final RequestHints NONE = new RequestHints(0, 0, 0, "", false, null);

    /** The same in this class, whatever the client says. */
    RequestHints in(String family) {
        return new RequestHints(
                priority,
                strictPriority,
                expectedOutput,
                family,
                speculativePrefill,
                enginePriority);
    }
}
