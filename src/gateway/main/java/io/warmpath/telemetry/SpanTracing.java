package io.warmpath.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.vertx.core.MultiMap;
import io.warmpath.access.Visit;
import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.observe.DecisionLog.Ending;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.RoutingDecision;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests as spans of OpenTelemetry, sent by OTLP over HTTP: one for the request, below it the
 * steps {@code tokenise} (look-up of the blocks included, where both are one call), {@code pool},
 * {@code queue}, {@code match}, {@code decide}, and one for each try on a worker, with an event at
 * its first token. Names and attributes are those of OpenTelemetry's conventions for HTTP and
 * generative AI where they have one, else {@code warmpath.*}.
 *
 * <p>The client's {@code traceparent} is the parent, and the engine's parent is the try. Whether a
 * request is followed is the parent's decision, and by chance without one. Some microseconds for a
 * request that is followed; spans wait in a queue of 2,048 for a thread of their own, and are
 * dropped when it is full.
 */
public final class SpanTracing implements Tracing, AutoCloseable {
    /**
     * @param endpoint of the collector, such as {@code http://collector:4318}; {@code /v1/traces}
     *     is added where it has no path
     * @param ratio of the requests without a parent that are followed, 0..1
     * @param service name of this service
     * @param version of it
     * @param headers sent with each batch, such as what proves who we are
     */
    public record Options(
            String endpoint,
            double ratio,
            String service,
            String version,
            Map<String, String> headers) {}

    private static final AttributeKey<String> METHOD =
            AttributeKey.stringKey("http.request.method");
    private static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");
    private static final AttributeKey<Long> STATUS =
            AttributeKey.longKey("http.response.status_code");
    private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");
    private static final AttributeKey<String> SERVER = AttributeKey.stringKey("server.address");
    private static final AttributeKey<Long> PORT = AttributeKey.longKey("server.port");
    private static final AttributeKey<String> MODEL =
            AttributeKey.stringKey("gen_ai.request.model");
    private static final AttributeKey<String> OPERATION =
            AttributeKey.stringKey("gen_ai.operation.name");
    private static final AttributeKey<Long> INPUT =
            AttributeKey.longKey("gen_ai.usage.input_tokens");
    private static final AttributeKey<Long> OUTPUT =
            AttributeKey.longKey("gen_ai.usage.output_tokens");
    private static final AttributeKey<String> REQUEST = AttributeKey.stringKey("warmpath.request");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("warmpath.outcome");
    private static final AttributeKey<String> WORKER = AttributeKey.stringKey("warmpath.worker");
    private static final AttributeKey<Long> RANK = AttributeKey.longKey("warmpath.dp_rank");
    private static final AttributeKey<String> MODE = AttributeKey.stringKey("warmpath.mode");
    private static final AttributeKey<Long> PROMPT =
            AttributeKey.longKey("warmpath.prompt_tokens.predicted");
    private static final AttributeKey<Long> CACHED =
            AttributeKey.longKey("warmpath.cached_tokens.predicted");
    private static final AttributeKey<String> NOT_EXACT =
            AttributeKey.stringKey("warmpath.cached_tokens.not_exact");
    private static final AttributeKey<Long> REPORTED =
            AttributeKey.longKey("warmpath.cached_tokens.reported");

    private static final TextMapGetter<MultiMap> GETTER =
            new TextMapGetter<>() {
                @Override
                public Iterable<String> keys(MultiMap from) {
                    return from.names();
                }

                @Override
                public @Nullable String get(@Nullable MultiMap from, String key) {
                    return from == null ? null : from.get(key);
                }
            };
    private static final TextMapSetter<MultiMap> SETTER =
            (to, key, value) -> {
                if (to != null) {
                    to.set(key, value);
                }
            };

    private final TextMapPropagator propagator = W3CTraceContextPropagator.getInstance();
    private final SdkTracerProvider provider;
    private final Tracer tracer;
    private final LongSupplier nanoTime;
    private final LongSupplier epochNanos;

    /** {@code nanoTime}: the flow's clock. {@code epochNanos}: nanoseconds since 1970. */
    public SpanTracing(Options options, LongSupplier nanoTime, LongSupplier epochNanos) {
        this(options, exporter(options), nanoTime, epochNanos);
    }

    SpanTracing(
            Options options,
            SpanExporter exporter,
            LongSupplier nanoTime,
            LongSupplier epochNanos) {
        this.nanoTime = nanoTime;
        this.epochNanos = epochNanos;
        this.provider =
                SdkTracerProvider.builder()
                        .setResource(
                                Resource.create(
                                        Attributes.of(
                                                AttributeKey.stringKey("service.name"),
                                                options.service(),
                                                AttributeKey.stringKey("service.version"),
                                                options.version())))
                        .setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(options.ratio())))
                        .addSpanProcessor(
                                BatchSpanProcessor.builder(exporter)
                                        .setScheduleDelay(1, TimeUnit.SECONDS)
                                        .build())
                        .build();
        this.tracer = provider.get("io.warmpath", options.version());
    }

    private static SpanExporter exporter(Options options) {
        OtlpHttpSpanExporterBuilder builder =
                OtlpHttpSpanExporter.builder().setEndpoint(path(options.endpoint()));
        options.headers().forEach(builder::addHeader);
        return builder.build();
    }

    private static String path(String endpoint) {
        int authority = endpoint.indexOf("://") + 3;
        int slash = endpoint.indexOf('/', authority);
        boolean bare = slash < 0 || slash == endpoint.length() - 1;
        return bare
                ? endpoint.substring(0, slash < 0 ? endpoint.length() : slash) + "/v1/traces"
                : endpoint;
    }

    /** Sends what waits, for some seconds at most. */
    @Override
    public void close() {
        provider.shutdown().join(5, TimeUnit.SECONDS);
    }

    @Override
    public @Nullable Trace begin(InferenceRequest request, @Nullable Visit visit, long began) {
        Context from = propagator.extract(Context.root(), request.headers(), GETTER);
        long wall = epochNanos.getAsLong() - (nanoTime.getAsLong() - began);
        String path = path(request);
        Span span =
                tracer.spanBuilder("POST " + path)
                        .setParent(from)
                        .setSpanKind(SpanKind.SERVER)
                        .setStartTimestamp(wall, TimeUnit.NANOSECONDS)
                        .setAttribute(METHOD, "POST")
                        .setAttribute(PATH, path)
                        .setAttribute(MODEL, request.model())
                        .setAttribute(REQUEST, request.requestId())
                        .startSpan();
        return new Followed(span, wall - began, operation(path) + " " + request.model());
    }

    private static String path(InferenceRequest request) {
        int query = request.target().indexOf('?');
        return query < 0 ? request.target() : request.target().substring(0, query);
    }

    private static String operation(String path) {
        return path.endsWith("/completions") && !path.endsWith("/chat/completions")
                ? "text_completion"
                : path.endsWith("/embeddings") ? "embeddings" : "chat";
    }

    /** A request; {@code offset} makes the flow's nanoseconds those since 1970. */
    private final class Followed implements Trace {
        private final Span span;
        private final long offset;
        private final String name;
        private final Context context;

        Followed(Span span, long offset, String name) {
            this.span = span;
            this.offset = offset;
            this.name = name;
            this.context = Context.root().with(span);
        }

        @Override
        public void step(String step, long from, long to) {
            if (span.isRecording()) {
                tracer.spanBuilder(step)
                        .setParent(context)
                        .setStartTimestamp(offset + from, TimeUnit.NANOSECONDS)
                        .startSpan()
                        .end(offset + to, TimeUnit.NANOSECONDS);
            }
        }

        @Override
        public Call call(RoutingDecision decision, int promptTokens, long now) {
            Candidate to = decision.chosen().candidate();
            Span call =
                    tracer.spanBuilder(name)
                            .setParent(context)
                            .setSpanKind(SpanKind.CLIENT)
                            .setStartTimestamp(offset + now, TimeUnit.NANOSECONDS)
                            .setAttribute(OPERATION, name.substring(0, name.indexOf(' ')))
                            .setAttribute(WORKER, to.worker().name())
                            .setAttribute(RANK, (long) to.dpRank())
                            .setAttribute(MODE, decision.mode().flag())
                            .setAttribute(CACHED, (long) decision.chosen().cachedTokens())
                            .startSpan();
            String host = to.worker().url().getHost();
            if (host != null) {
                call.setAttribute(SERVER, host);
                call.setAttribute(PORT, (long) to.worker().url().getPort());
            }
            NotExact why = decision.notExact();
            if (why != null) {
                call.setAttribute(NOT_EXACT, why.label());
            }
            if (promptTokens >= 0) {
                call.setAttribute(PROMPT, (long) promptTokens);
            }
            return new Tried(call, offset);
        }

        @Override
        public String id() {
            return span.getSpanContext().isValid() ? span.getSpanContext().getTraceId() : "";
        }

        @Override
        public void ended(Outcome outcome, String traceId, long now) {
            span.setAttribute(OUTCOME, outcome.name().toLowerCase(Locale.ROOT));
            switch (outcome) {
                case OK, ENGINE_ERROR, REJECTED, CANCELLED -> {}
                case OVERLOADED,
                        NO_WORKER,
                        UPSTREAM_FAILED,
                        BROKEN_MID_ANSWER,
                        TIMED_OUT,
                        INTERNAL -> {
                    span.setStatus(StatusCode.ERROR);
                    span.setAttribute(ERROR, outcome.name().toLowerCase(Locale.ROOT));
                }
            }
            span.end(offset + now, TimeUnit.NANOSECONDS);
        }
    }

    private final class Tried implements Call {
        private final Span span;
        private final long offset;

        Tried(Span span, long offset) {
            this.span = span;
            this.offset = offset;
        }

        @Override
        public void addTo(MultiMap headers) {
            propagator.inject(Context.root().with(span), headers, SETTER);
        }

        @Override
        public void firstToken(long now) {
            span.addEvent("first token", offset + now, TimeUnit.NANOSECONDS);
        }

        @Override
        public void ended(String problem, Ending ending, long now) {
            int status = ending.status();
            if (status > 0) {
                span.setAttribute(STATUS, (long) status);
            }
            if (!problem.isEmpty() || status >= 400) {
                span.setStatus(StatusCode.ERROR);
                span.setAttribute(ERROR, problem.isEmpty() ? Integer.toString(status) : problem);
            }
            number(INPUT, ending.promptTokens());
            number(REPORTED, ending.cachedTokens());
            number(OUTPUT, ending.counted() ? ending.outputTokens() : -1);
            span.end(offset + now, TimeUnit.NANOSECONDS);
        }

        private void number(AttributeKey<Long> key, long value) {
            if (value >= 0) {
                span.setAttribute(key, value);
            }
        }
    }
}
