package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.warmpath.config.LogFormat;
import io.warmpath.config.TelemetryConfig;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.observe.TracingTwice;
import io.warmpath.telemetry.JsonLogFormatter;
import io.warmpath.telemetry.MetricAliases;
import io.warmpath.telemetry.RequestLog;
import io.warmpath.telemetry.SpanTracing;
import io.warmpath.telemetry.TextLogFormatter;
import io.warmpath.wiring.settings.StartFailure;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import org.jboss.logmanager.ExtHandler;
import org.jspecify.annotations.Nullable;

/** What tells others of requests: log, spans, names of metrics. */
final class TelemetryParts implements AutoCloseable {
    private final @Nullable SpanTracing spans;
    private final FlowMetrics requests;

    /**
     * @param usage follows what requests use
     * @throws StartFailure when a setting cannot be used
     */
    TelemetryParts(TelemetryConfig config, MeterRegistry meters, Tracing usage) {
        if (config.dynamoNames()) {
            addNames(meters);
        }
        spans = config.traces().endpoint().map(e -> spans(config.traces(), e)).orElse(null);
        requests =
                new FlowMetrics(
                        meters,
                        both(usage, both(config.requestLog() ? new RequestLog() : null, spans)));
    }

    /** From now on the log is written as the settings say. */
    static void formLog(TelemetryConfig config) {
        boolean json = config.logFormat() == LogFormat.JSON;
        write(LogManager.getLogManager().getLogger("").getHandlers(), json);
    }

    /** What puts something into headers comes last. */
    private static Tracing both(@Nullable Tracing first, @Nullable Tracing last) {
        if (first == null) {
            return last == null ? Tracing.NONE : last;
        }
        return last == null || last == Tracing.NONE ? first : new TracingTwice(first, last);
    }

    /** Counts every request, and tells it to usage, log and spans. */
    FlowMetrics requests() {
        return requests;
    }

    private static SpanTracing spans(TelemetryConfig.Traces config, String endpoint) {
        try {
            return new SpanTracing(
                    new SpanTracing.Options(
                            endpoint,
                            config.ratio(),
                            config.serviceName(),
                            Main.VERSION,
                            headers(config.headers().orElse(""))),
                    System::nanoTime,
                    () -> {
                        Instant now = Instant.now();
                        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
                    });
        } catch (IllegalArgumentException e) {
            throw new StartFailure(
                    "warmpath.telemetry.traces.endpoint `" + endpoint + "`: " + e.getMessage());
        }
    }

    private static Map<String, String> headers(String given) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (String pair : given.split(",", -1)) {
            int eq = pair.indexOf('=');
            if (eq > 0) {
                headers.put(pair.substring(0, eq).strip(), pair.substring(eq + 1).strip());
            } else if (!pair.isBlank()) {
                throw new StartFailure(
                        "warmpath.telemetry.traces.headers has a part without `=`; write"
                                + " name=value,name=value.");
            }
        }
        return headers;
    }

    @SuppressWarnings("deprecation") // Quarkus still has this one
    private static void addNames(MeterRegistry meters) {
        if (meters instanceof PrometheusMeterRegistry prometheus) {
            MetricAliases.addTo(prometheus.getPrometheusRegistry());
        } else if (meters instanceof CompositeMeterRegistry several) {
            several.getRegistries().forEach(TelemetryParts::addNames);
        }
    }

    private static void write(Handler[] handlers, boolean json) {
        for (Handler h : handlers) {
            Formatter form = h.getFormatter();
            if (json) {
                h.setFormatter(new JsonLogFormatter());
            } else if (form != null && !(form instanceof TextLogFormatter)) {
                h.setFormatter(new TextLogFormatter(form));
            }
            if (h instanceof ExtHandler outer) {
                write(outer.getHandlers(), json);
            }
        }
    }

    @Override
    public void close() {
        if (spans != null) {
            spans.close();
        }
    }
}
