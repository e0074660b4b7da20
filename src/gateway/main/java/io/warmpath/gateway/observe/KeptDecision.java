package io.warmpath.gateway.observe;

import io.warmpath.gateway.observe.DecisionLog.Ending;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.SessionHeaders;
import io.warmpath.routing.RoutingDecision;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One decision of the last ones, and how it ended. It holds nothing of the request's body, headers
 * or blocks but what is named here. Immutable but for its end; any thread.
 *
 * @param number of the decision, from 0; those that were left out have numbers too
 * @param session as the client names it, its beginning; empty when it does not
 * @param path without the query, its beginning
 * @param decision {@link RoutingDecision#kept}
 * @param last how it ended; holds null until then
 */
public record KeptDecision(
        long number,
        Instant at,
        String requestId,
        String session,
        String model,
        String path,
        Occasion occasion,
        RoutingDecision decision,
        AtomicReference<@Nullable End> last) {
    private static final int MOST_CHARS = 256;

    /** This, its end, their times, and the places that point to them. */
    private static final int FIXED_BYTES = 360;

    private static final int STRING_BYTES = 48;

    /**
     * A worker is done with the request, or left.
     *
     * @param problem why there is no whole answer; empty when there is
     */
    public record End(Instant at, String problem, Ending ending) {}

    static KeptDecision of(
            long number,
            Instant at,
            InferenceRequest request,
            Occasion occasion,
            RoutingDecision decision) {
        String target = request.target();
        int query = target.indexOf('?');
        return new KeptDecision(
                number,
                at,
                request.requestId(),
                beginning(SessionHeaders.id(request)),
                request.model(),
                beginning(query < 0 ? target : target.substring(0, query)),
                occasion,
                decision.kept(),
                new AtomicReference<>());
    }

    private static String beginning(String text) {
        return text.length() <= MOST_CHARS ? text : text.substring(0, MOST_CHARS);
    }

    /** How it ended; null: it has not. */
    public @Nullable End end() {
        return last.get();
    }

    /** Heap that only this takes, at most; its end included, though it may still come. */
    int heapBytes() {
        long bytes =
                FIXED_BYTES
                        + decision.heapBytes()
                        + chars(requestId)
                        + chars(session)
                        + chars(model)
                        + chars(path)
                        + chars(occasion.tenant())
                        + chars(occasion.traceId());
        return (int) Math.min(Integer.MAX_VALUE, bytes);
    }

    private static long chars(String text) {
        return text.isEmpty() ? 0 : STRING_BYTES + 2L * text.length();
    }
}
