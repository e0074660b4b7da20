package io.warmpath.telemetry;

import io.vertx.core.MultiMap;
import io.warmpath.access.Visit;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.observe.DecisionLog.Ending;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.Refusal;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.RoutingDecision;
import java.util.Locale;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One line for every request that has ended or was refused, on the logger {@code
 * io.warmpath.requests}: text with names, and the same by name for the JSON log. Never what a
 * request or answer said. On the request's event loop; some microseconds.
 */
public final class RequestLog implements Tracing {
    private static final Logger LOG = Logger.getLogger("io.warmpath.requests");

    private static final String REJECTED = Outcome.REJECTED.name().toLowerCase(Locale.ROOT);

    @Override
    public Trace begin(InferenceRequest request, @Nullable Visit visit, long began) {
        return new Line(request, visit, began);
    }

    @Override
    public void refused(Refusal refusal) {
        LOG.infof(
                "%s",
                new LogFields()
                        .text("request", refusal.requestId())
                        .text("path", refusal.path())
                        .text("tenant", refusal.tenant())
                        .count("status", refusal.error().httpStatus())
                        .text("error", refusal.error().code())
                        .text("outcome", REJECTED)
                        .text("trace_id", refusal.traceId()));
    }

    private static final class Line implements Trace {
        private final long began;
        private final LogFields known = new LogFields();
        private int tries;

        Line(InferenceRequest request, @Nullable Visit visit, long began) {
            this.began = began;
            known.text("request", request.requestId())
                    .text("path", request.target())
                    .text("model", request.model())
                    .text("tenant", visit == null ? "" : visit.tenant());
        }

        @Override
        public void step(String name, long from, long to) {
            known.millis(name + "_ms", to - from);
        }

        @Override
        public Call call(RoutingDecision decision, int promptTokens, long now) {
            known.count("tries", ++tries)
                    .text("worker", decision.chosen().candidate().worker().name())
                    .count("dp_rank", decision.chosen().candidate().dpRank())
                    .count("predicted", decision.chosen().cachedTokens());
            NotExact why = decision.notExact();
            if (why != null) {
                known.text("not_exact", why.label());
            }
            return new Tried(this);
        }

        @Override
        public void refused(GatewayError error) {
            known.count("status", error.httpStatus()).text("error", error.code());
        }

        @Override
        public void ended(Outcome outcome, String traceId, long now) {
            known.text("outcome", outcome.name().toLowerCase(Locale.ROOT))
                    .millis("total_ms", now - began)
                    .text("trace_id", traceId);
            LOG.infof("%s", known);
        }
    }

    private record Tried(Line line) implements Call {
        @Override
        public void addTo(MultiMap headers) {}

        @Override
        public void firstToken(long now) {
            line.known.millis("ttft_ms", now - line.began);
        }

        @Override
        public void ended(String problem, Ending ending, long now) {
            if (ending.status() > 0) {
                line.known.count("status", ending.status());
            }
            line.known
                    .text("problem", problem)
                    .count("prompt_tokens", ending.promptTokens())
                    .count("cached_tokens", ending.cachedTokens())
                    .count("output_tokens", ending.counted() ? ending.outputTokens() : -1);
        }
    }
}
