package io.warmpath.gateway.observe;

import io.vertx.core.MultiMap;
import io.warmpath.access.Visit;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.observe.DecisionLog.Ending;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.RoutingDecision;
import org.jspecify.annotations.Nullable;

/**
 * Gets the steps of single requests, so that one request can be followed through many systems.
 * Called on the request's event loop; must not block, and must not throw. Times are nanoseconds of
 * the flow's clock.
 */
public interface Tracing {
    /** Follows nothing. */
    Tracing NONE = (request, visit, began) -> null;

    /**
     * A request has come in whole.
     *
     * @param visit whose it is; null: nobody's in particular
     * @return null when it is not followed
     */
    @Nullable Trace begin(InferenceRequest request, @Nullable Visit visit, long began);

    /** A request was refused before it could begin. */
    default void refused(Refusal refusal) {}

    /** One request. */
    interface Trace {
        /** A step on the way to the decision is over. */
        void step(String name, long from, long to);

        /** It is sent to a worker. */
        Call call(RoutingDecision decision, int promptTokens, long now);

        /** It is answered with an error of the gateway's; {@link #ended} follows. */
        default void refused(GatewayError error) {}

        /** Of the trace, as {@link TraceIds}; empty: it makes none of its own. */
        default String id() {
            return "";
        }

        /**
         * It has ended; the last call.
         *
         * @param traceId of the trace that it was part of, whoever followed that; empty: none
         */
        void ended(Outcome outcome, String traceId, long now);
    }

    /** One try on one worker. */
    interface Call {
        /** Puts what tells the engine of this trace in place of what the client has sent. */
        void addTo(MultiMap headers);

        void firstToken(long now);

        /**
         * The engine has reported how much of a prompt was cached that is known whole.
         *
         * @param predicted cached tokens of it
         * @param reported never negative
         */
        default void compared(int predicted, long reported) {}

        /**
         * The worker is done with it, or left; the last call.
         *
         * @param problem why there is no whole answer; empty when there is
         */
        void ended(String problem, Ending ending, long now);
    }
}
