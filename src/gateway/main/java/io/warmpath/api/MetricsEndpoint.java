package io.warmpath.api;

import io.vertx.ext.web.RoutingContext;
import java.util.Locale;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /metrics}: in Prometheus' text format unless OpenMetrics is asked for and that is not.
 * Never 406: a scraper that asks for something else gets the text.
 *
 * @param scrape all metrics in the format of this content type; takes milliseconds
 */
record MetricsEndpoint(UnaryOperator<String> scrape) {
    private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";
    private static final String OPEN_METRICS =
            "application/openmetrics-text; version=1.0.0; charset=utf-8";

    void answer(RoutingContext rc) {
        String type = type(rc.request().getHeader("accept"));
        rc.vertx()
                .executeBlocking(() -> tidy(scrape.apply(type)), false)
                .onSuccess(
                        text -> {
                            if (!rc.response().closed()) {
                                rc.response().putHeader("content-type", type).end(text);
                            }
                        })
                .onFailure(rc::fail);
    }

    /** Without the comma that the text format's writer leaves behind the last label. */
    private static String tidy(String metrics) {
        StringBuilder out = new StringBuilder(metrics.length());
        int end;
        for (int from = 0; from < metrics.length(); from = end) {
            int line = metrics.indexOf('\n', from);
            end = line < 0 ? metrics.length() : line + 1;
            // The last brace closes the labels: a value has none.
            int close = metrics.charAt(from) == '#' ? -1 : metrics.lastIndexOf('}', end - 1);
            if (close > from && metrics.charAt(close - 1) == ',') {
                out.append(metrics, from, close - 1).append(metrics, close, end);
            } else {
                out.append(metrics, from, end);
            }
        }
        return out.toString();
    }

    private static String type(@Nullable String accept) {
        String asked = accept == null ? "" : accept.toLowerCase(Locale.ROOT);
        return asked.contains("application/openmetrics-text") && !asked.contains("text/plain")
                ? OPEN_METRICS
                : TEXT;
    }
}
