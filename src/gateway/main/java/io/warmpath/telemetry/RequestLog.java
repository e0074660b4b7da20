package io.warmpath.telemetry;

import io.vertx.core.MultiMap;
import io.warmpath.access.Visit;
import io.warmpath.gateway.observe.DecisionLog.Ending;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.RoutingDecision;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jboss.logging.MDC;
import org.jspecify.annotations.Nullable;

/**
 * One line for every request that has ended, on the logger {@code io.warmpath.requests}: text with
 * names, and the same by name for the JSON log. Never what a request or answer said. On the
 * request's event loop; some microseconds.
 */
public final class RequestLog implements Tracing {
    private static final Logger LOG = Logger.getLogger("io.warmpath.requests");

    @Override
    public Trace begin(InferenceRequest request, @Nullable Visit visit, long began) {
        return new Line(request, began);
    }

    private static final class Line implements Trace {
        private final long began;
        private final Map<String, String> known = new LinkedHashMap<>();
        private int tries;

        Line(InferenceRequest request, long began) {
            this.began = began;
            known.put("request", request.requestId());
            known.put("path", request.target());
            known.put("model", request.model());
        }

        @Override
        public void step(String name, long from, long to) {
            known.put(name + "_ms", millis(to - from));
        }

        @Override
        public Call call(RoutingDecision decision, int promptTokens, long now) {
            known.put("tries", Integer.toString(++tries));
            known.put("worker", decision.chosen().candidate().worker().name());
            known.put("dp_rank", Integer.toString(decision.chosen().candidate().dpRank()));
            known.put("predicted", Integer.toString(decision.chosen().cachedTokens()));
            return new Tried(this);
        }

        @Override
        public void ended(Outcome outcome, String traceId, long now) {
            known.put("outcome", outcome.name().toLowerCase(Locale.ROOT));
            known.put("total_ms", millis(now - began));
            known.forEach(MDC::put);
            try {
                LOG.info(
                        known.entrySet().stream()
                                .map(e -> e.getKey() + "=" + e.getValue())
                                .collect(Collectors.joining(" ")));
            } finally {
                known.keySet().forEach(MDC::remove);
            }
        }

        private static String millis(long nanos) {
            return String.format(Locale.ROOT, "%.3f", nanos / 1e6);
        }
    }

    private record Tried(Line line) implements Call {
        @Override
        public void addTo(MultiMap headers) {}

        @Override
        public void firstToken(long now) {
            line.known.put("ttft_ms", Line.millis(now - line.began));
        }

        @Override
        public void ended(String problem, Ending ending, long now) {
            if (ending.status() > 0) {
                line.known.put("status", Integer.toString(ending.status()));
            }
            if (!problem.isEmpty()) {
                line.known.put("problem", problem);
            }
            number("prompt_tokens", ending.promptTokens());
            number("cached_tokens", ending.cachedTokens());
            number("output_tokens", ending.counted() ? ending.outputTokens() : -1);
        }

        private void number(String name, long value) {
            if (value >= 0) {
                line.known.put(name, Long.toString(value));
            }
        }
    }
}
