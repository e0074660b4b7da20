package io.warmpath.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import io.warmpath.config.engine.FleetConfig;
import io.warmpath.config.engine.HealthConfig;
import io.warmpath.config.engine.KubernetesConfig;
import io.warmpath.config.engine.MigrationConfig;
import io.warmpath.config.engine.RetryConfig;
import io.warmpath.config.engine.UpstreamConfig;
import io.warmpath.config.engine.WorkerConfig;
import io.warmpath.config.http.AddressConfig;
import io.warmpath.config.http.AdminConfig;
import io.warmpath.config.http.AuthConfig;
import io.warmpath.config.http.HttpConfig;
import io.warmpath.config.http.PickerConfig;
import io.warmpath.config.router.AdmissionConfig;
import io.warmpath.config.router.DisaggregationConfig;
import io.warmpath.config.router.RouterConfig;
import io.warmpath.config.router.RoutingConfig;
import io.warmpath.config.router.SharedCacheConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.state.EventsConfig;
import io.warmpath.config.state.IndexConfig;
import io.warmpath.config.state.NatsConfig;
import io.warmpath.config.state.ReplicaConfig;
import io.warmpath.config.state.SessionConfig;
import io.warmpath.config.state.StateConfig;
import io.warmpath.config.tokens.ModelConfig;
import io.warmpath.config.tokens.TokensConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Every key under {@code warmpath}. Sources, strongest first: command line, {@code WARMPATH_...}
 * environment, other environment names, the file of {@code --config}, the defaults here. Immutable
 * once read; any thread.
 */
@ConfigMapping(prefix = "warmpath")
public interface WarmpathConfig {

    @Setting(
            doc = "YAML file with settings, the workers for example.",
            unit = "path",
            flags = "--config")
    Optional<String> configFile();

    @WithDefault("INFO")
    @Setting(doc = "What is logged: ERROR, WARN, INFO, DEBUG or TRACE.", flags = "--log-level")
    LogLevel logLevel();

    HttpConfig http();

    PickerConfig picker();

    RouterConfig router();

    AdmissionConfig admission();

    RoutingConfig routing();

    DisaggregationConfig disaggregation();

    IndexConfig index();

    MemoryConfig memory();

    UpstreamConfig upstream();

    TokensConfig tokens();

    /** What models have of their own, by the name that engines serve them under. */
    Map<String, ModelConfig> models();

    EventsConfig events();

    StateConfig state();

    SessionConfig session();

    MigrationConfig migration();

    RetryConfig retry();

    TelemetryConfig telemetry();

    ChannelsConfig channels();

    NatsConfig nats();

    ReplicaConfig replica();

    SharedCacheConfig sharedCache();

    FleetConfig fleet();

    AddressConfig addresses();

    KubernetesConfig kubernetes();

    HealthConfig health();

    AdminConfig admin();

    AuthConfig auth();

    ExplainConfig explain();

    WarmupConfig warmup();

    @Setting(
            doc =
                    "Base URLs of engines, besides `warmpath.workers`; everything else is asked of"
                            + " them. `http`, `https`, `unix:///path/to/socket`, `h2c` and `h2`"
                            + " (HTTP/2). On the command line `--worker` may be repeated.",
            unit = "URL,URL,...",
            flags = {"--worker", "--workers"})
    Optional<List<String>> workerUrls();

    /** Engines known at start, with what they do not tell themselves. */
    List<WorkerConfig> workers();

    /** What is logged. */
    enum LogLevel {
        ERROR,
        WARN,
        INFO,
        DEBUG,
        TRACE
    }
}
