package io.warmpath.telemetry;

import io.vertx.core.MultiMap;
import io.warmpath.access.Visit;
import io.warmpath.gateway.observe.DecisionLog.Ending;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.Refusal;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.telemetry.channel.UsageRecord;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Follows every request, and tells each of its tries when that has ended, and its {@link Usage}
 * once, when the request and all its tries have ended. On the request's event loop; two small
 * objects a request.
 */
public record UsageTracing(Sink to, InstantSource clock) implements Tracing {
    /** Is told of what has ended; must not wait. */
    @FunctionalInterface
    public interface Sink {
        /** One try on one worker. */
        default void tried(Tried tried) {}

        void used(Usage usage);

        /** A request was refused before it could begin. */
        default void refused(Refusal refusal) {}
    }

    @Override
    public Trace begin(InferenceRequest request, @Nullable Visit visit, long began) {
        return new Usage(this, request, visit, began);
    }

    @Override
    public void refused(Refusal refusal) {
        to.refused(refusal);
    }

    /** One request; does not change any more once it has been told. */
    public static final class Usage implements Trace {
        private static final double MILLI = 1e6;

        private final UsageTracing tracing;
        private final String requestId;
        private final String target;
        private final String model;
        private final boolean stream;
        private final @Nullable Visit visit;
        private final long began;
        private int tries;
        private int running;
        private @Nullable Outcome outcome;
        private @Nullable RoutingDecision decision;
        private boolean answered; // a worker's first token has come
        private int status;
        private long promptTokens = -1;
        private long cachedTokens = -1;
        private long outputTokens = -1;
        private boolean promptCounted;
        private boolean outputCounted;
        private long queued;
        private long firstToken = -1;
        private long total;
        private long millis;

        // The request itself would keep its body.
        Usage(UsageTracing tracing, InferenceRequest request, @Nullable Visit visit, long began) {
            this.tracing = tracing;
            this.requestId = request.requestId();
            this.target = request.target();
            this.model = request.model();
            this.stream = request.stream();
            this.visit = visit;
            this.began = began;
        }

        @Override
        public void step(String name, long from, long to) {
            if (name.equals("queue")) {
                queued += to - from;
            }
        }

        @Override
        public Call call(RoutingDecision decision, int promptTokens, long now) {
            tries++;
            running++;
            return new Tried(this, decision, promptTokens);
        }

        @Override
        public void ended(Outcome outcome, String traceId, long now) {
            this.outcome = outcome;
            total = now - began;
            tell();
        }

        /** A client that leaves ends the request before its try. */
        private void tell() {
            if (outcome != null && running == 0) {
                millis = tracing.clock.millis();
                tracing.to.used(this);
            }
        }

        private void tried(Tried last, Ending ending) {
            running--;
            tracing.to.tried(last);
            RoutingDecision to = last.decision;
            decision = to;
            status = ending.status();
            boolean goesOn = answered;
            if (last.firstToken >= 0 && status < 400 && !answered) {
                answered = true;
                firstToken = last.firstToken - began;
            }
            if (ending.promptTokens() >= 0 || !goesOn) {
                promptCounted = ending.promptTokens() >= 0;
                promptTokens = promptCounted ? ending.promptTokens() : last.promptTokens;
            }
            if (ending.cachedTokens() >= 0 || !goesOn) {
                cachedTokens = ending.cachedTokens();
            }
            if (ending.outputTokens() >= 0 || !goesOn) {
                outputTokens = ending.outputTokens();
                outputCounted = ending.counted();
            }
            tell();
        }

        /** Empty: nobody's in particular. */
        public String tenant() {
            return visit == null ? "" : visit.tenant();
        }

        /** As workers list it, where one does; else as the client has named it. */
        public String model() {
            return model;
        }

        public Outcome outcome() {
            return Objects.requireNonNull(outcome);
        }

        /** That sent it to the last worker; null: it was sent nowhere. */
        public @Nullable RoutingDecision decision() {
            return decision;
        }

        /** As the engine counted, else as the gateway did; -1: not known. */
        public long promptTokens() {
            return promptTokens;
        }

        /** As the engine reports; -1: it does not. */
        public long cachedTokens() {
            return cachedTokens;
        }

        /** As the engine counted, else the events of the stream; -1: not known. */
        public long outputTokens() {
            return outputTokens;
        }

        /** Nanoseconds from the request's last byte to the first token; -1: there was none. */
        public long firstTokenNanos() {
            return firstToken;
        }

        /** What is sent. Any thread, once it has been told. */
        public UsageRecord record() {
            RoutingDecision to = decision;
            RouterMode mode = to == null ? null : to.mode();
            boolean costs = mode == RouterMode.KV || mode == RouterMode.DIRECT;
            String tenant = tenant();
            int query = target.indexOf('?');
            return new UsageRecord(
                    Instant.ofEpochMilli(millis).toString(),
                    requestId,
                    tenant.isEmpty() ? null : tenant,
                    visit == null ? null : visit.caller().grant().name(),
                    query < 0 ? target : target.substring(0, query),
                    model,
                    stream,
                    String.valueOf(outcome).toLowerCase(Locale.ROOT),
                    status == 0 ? null : status,
                    tries,
                    to == null ? null : to.chosen().candidate().worker().name(),
                    to == null ? null : to.chosen().candidate().dpRank(),
                    to == null || !costs ? null : to.chosen().cost(),
                    to == null || !costs ? null : to.options().cost().flag(),
                    known(promptTokens),
                    known(cachedTokens),
                    known(outputTokens),
                    (promptTokens >= 0 && !promptCounted) || (outputTokens >= 0 && !outputCounted),
                    queued == 0 ? null : queued / MILLI,
                    firstToken < 0 ? null : firstToken / MILLI,
                    total / MILLI);
        }

        private static @Nullable Long known(long tokens) {
            return tokens < 0 ? null : tokens;
        }
    }

    /** One try; does not change any more once it has been told. */
    public static final class Tried implements Call {
        private final Usage of;
        private final RoutingDecision decision;
        private final int promptTokens;
        private long firstToken = -1;
        private long predicted = -1;
        private String problem = "";
        private @Nullable Ending ending;

        Tried(Usage of, RoutingDecision decision, int promptTokens) {
            this.of = of;
            this.decision = decision;
            this.promptTokens = promptTokens;
        }

        @Override
        public void addTo(MultiMap headers) {}

        @Override
        public void firstToken(long now) {
            firstToken = now;
        }

        @Override
        public void compared(int predicted, long reported) {
            this.predicted = predicted;
        }

        @Override
        public void ended(String problem, Ending ending, long now) {
            this.problem = problem;
            this.ending = ending;
            of.tried(this, ending);
        }

        /** Name of the worker. */
        public String worker() {
            return decision.chosen().candidate().worker().name();
        }

        /** As {@link Call#ended} has it. */
        public String problem() {
            return problem;
        }

        public Ending ending() {
            return Objects.requireNonNull(ending);
        }

        /** Cached tokens, where the engine's report of them can be held against it; else -1. */
        public long predicted() {
            return predicted;
        }
    }
}
