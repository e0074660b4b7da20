package io.warmpath.gateway.request;

import io.warmpath.session.AgentContext;
import io.warmpath.session.PinRequest;
import io.warmpath.session.SessionControl;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the client says of its request beside the prompt and where it is to go.
 *
 * @param priority more important when higher; in the queue it is worth that many seconds of waiting
 * @param strictPriority a tier above everything of a lower one
 * @param expectedOutput tokens the answer will probably have; 0 when not said
 * @param policyClass family of policy classes; empty when not said
 * @param speculativePrefill the next turn's prompt is to be computed ahead
 * @param enginePriority priority that the engine gets, more important when higher; null: nothing
 * @param session what is to become of the engine's session; null: it has none
 * @param pin the prompt is to be kept in cache; null: as all others are
 * @param agent whose turn it is, as the body says
 * @param greedy the likeliest token each time, whatever the body says of sampling
 * @param extras what the client wants to know beside the answer
 */
public record RequestHints(
        double priority,
        int strictPriority,
        int expectedOutput,
        String policyClass,
        boolean speculativePrefill,
        @Nullable Integer enginePriority,
        @Nullable SessionControl session,
        @Nullable PinRequest pin,
        AgentContext agent,
        boolean greedy,
        Set<NvextField> extras) {
    public static final RequestHints NONE =
            new RequestHints(
                    0, 0, 0, "", false, null, null, null, AgentContext.NONE, false, Set.of());

    public RequestHints {
        extras = Set.copyOf(extras);
    }

    public RequestHints withExpectedOutput(int tokens) {
        return with(tokens, policyClass);
    }

    /** The same in this class, whatever the client says. */
    RequestHints in(String family) {
        return with(expectedOutput, family);
    }

    private RequestHints with(int output, String family) {
        return new RequestHints(
                priority,
                strictPriority,
                output,
                family,
                speculativePrefill,
                enginePriority,
                session,
                pin,
                agent,
                greedy,
                extras);
    }
}
