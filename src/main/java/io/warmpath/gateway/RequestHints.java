package io.warmpath.gateway;

import io.warmpath.session.PinRequest;
import io.warmpath.session.SessionControl;
import org.jspecify.annotations.Nullable;

/**
 * What the client says about the urgency, the size and the future of its request.
 *
 * @param priority more important when higher; in the queue it is worth that many seconds of waiting
 * @param strictPriority a tier above everything of a lower one
 * @param expectedOutput tokens the answer will probably have; 0 when not said
 * @param policyClass family of policy classes; empty when not said
 * @param speculativePrefill the next turn's prompt is to be computed ahead
 * @param enginePriority what the engine is to be told, more important when higher; null: nothing
 * @param session what is to become of the engine's session; null: it has none
 * @param pin the prompt is to be kept in cache; null: as all others are
 */
public record RequestHints(
        double priority,
        int strictPriority,
        int expectedOutput,
        String policyClass,
        boolean speculativePrefill,
        @Nullable Integer enginePriority,
        @Nullable SessionControl session,
        @Nullable PinRequest pin) {
    public static final RequestHints NONE = new RequestHints(0, 0, 0, "", false, null, null, null);

    public RequestHints withExpectedOutput(int tokens) {
        return new RequestHints(
                priority,
                strictPriority,
                tokens,
                policyClass,
                speculativePrefill,
                enginePriority,
                session,
                pin);
    }
}
