package io.warmpath.config;

import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import java.util.Optional;

/** What others are told of the gateway's work. Part of {@link WarmpathConfig}. */
public interface TelemetryConfig {
    @WithDefault("text")
    @Setting(
            doc = "How the log is written: `text` or `json`, one object a line.",
            flags = "--log-format")
    LogFormat logFormat();

    @WithDefault("false")
    @Setting(
            doc =
                    "Write one line of the log for every request that has ended: its id, outcome,"
                            + " worker, tokens and times; never what it said.",
            flags = "--request-log")
    boolean requestLog();

    @WithDefault("true")
    @Setting(
            doc =
                    "Serve metrics under the names of Dynamo's frontend and router too, for dashboards"
                            + " made for them.")
    boolean dynamoNames();

    Usage usage();

    /** What tenants have used, in {@code GET /usage} and in metrics. */
    interface Usage {
        @WithDefault("100")
        @Setting(
                doc =
                        "Tenants that have figures of their own in `GET /usage` and in the metrics"
                                + " `warmpath_tenant_*`; those that come when there are as many count"
                                + " as `other`. 0: tenants are not told apart, nor named in metrics.",
                unit = "tenants",
                min = 0,
                max = 1000)
        int tenants();

        @WithDefault("false")
        @Setting(
                doc =
                        "Whether `GET /metrics`, which is open to all who reach the port, names tenants"
                                + " where clients show keys or tokens; otherwise `warmpath_tenant_*`"
                                + " count all together, as `all`, and `GET /usage` tells operators."
                                + " Where clients show nothing, tenants are always named.")
        boolean tenantMetrics();

        @Setting(
                doc =
                        "What a million prompt tokens cost that are computed: `GET /usage` tells what"
                                + " cached ones have saved.",
                unit = "money")
        Optional<Double> pricePerMillionPromptTokens();

        @WithDefault("USD")
        @Setting(doc = "Currency of that price.", unit = "name")
        String currency();
    }

    Traces traces();

    /** Spans of single requests. */
    interface Traces {
        @Setting(
                doc =
                        "OpenTelemetry collector that is sent the steps of requests as spans, by OTLP"
                                + " over HTTP; `/v1/traces` is added to an address without a path."
                                + " Unset: no request is traced.",
                unit = "URL",
                flags = "--traces-endpoint",
                env = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"})
        Optional<String> endpoint();

        @WithDefault("0.01")
        @Setting(
                doc =
                        "Share of the requests that are traced, where the client's `traceparent` does"
                                + " not say whether.",
                unit = "0..1",
                env = "OTEL_TRACES_SAMPLER_ARG",
                min = 0,
                max = 1)
        double ratio();

        @WithDefault("warmpath")
        @Setting(doc = "Name of this service in traces.", unit = "name", env = "OTEL_SERVICE_NAME")
        String serviceName();

        @Setting(
                doc = "Headers for the collector.",
                unit = "name=value,...",
                env = "OTEL_EXPORTER_OTLP_HEADERS",
                secret = true)
        Optional<String> headers();
    }
}
