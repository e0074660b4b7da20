package io.warmpath.gateway.observe;

import io.vertx.core.MultiMap;
import io.warmpath.access.Visit;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.observe.DecisionLog.Ending;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.RoutingDecision;
import org.jspecify.annotations.Nullable;

/** Tells two; what is put into headers is the second one's where both want the same. */
public record TracingTwice(Tracing first, Tracing second) implements Tracing {
    @Override
    public @Nullable Trace begin(InferenceRequest request, @Nullable Visit visit, long began) {
        Trace a = first.begin(request, visit, began);
        Trace b = second.begin(request, visit, began);
        return a == null ? b : b == null ? a : new Both(a, b);
    }

    @Override
    public void refused(Refusal refusal) {
        first.refused(refusal);
        second.refused(refusal);
    }

    private record Both(Trace first, Trace second) implements Trace {
        @Override
        public void step(String name, long from, long to) {
            first.step(name, from, to);
            second.step(name, from, to);
        }

        @Override
        public Call call(RoutingDecision decision, int promptTokens, long now) {
            return new BothCalls(
                    first.call(decision, promptTokens, now),
                    second.call(decision, promptTokens, now));
        }

        @Override
        public void refused(GatewayError error) {
            first.refused(error);
            second.refused(error);
        }

        @Override
        public String id() {
            String id = first.id();
            return id.isEmpty() ? second.id() : id;
        }

        @Override
        public void ended(Outcome outcome, String traceId, long now) {
            first.ended(outcome, traceId, now);
            second.ended(outcome, traceId, now);
        }
    }

    private record BothCalls(Call first, Call second) implements Call {
        @Override
        public void compared(int predicted, long reported) {
            first.compared(predicted, reported);
            second.compared(predicted, reported);
        }

        @Override
        public void addTo(MultiMap headers) {
            first.addTo(headers);
            second.addTo(headers);
        }

        @Override
        public void firstToken(long now) {
            first.firstToken(now);
            second.firstToken(now);
        }

        @Override
        public void ended(String problem, Ending ending, long now) {
            first.ended(problem, ending, now);
            second.ended(problem, ending, now);
        }
    }
}
