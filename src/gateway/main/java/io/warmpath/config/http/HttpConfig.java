package io.warmpath.config.http;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.ByteSize;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;

/** The side that clients see. */
public interface HttpConfig extends ClientBoundsConfig {
    HttpTlsConfig tls();

    ClientsConfig clients();

    CorsConfig cors();

    @WithDefault("0.0.0.0")
    @Setting(
            doc = "Address to listen on.",
            unit = "address",
            flags = {"--http-host"},
            env = {"DYN_HTTP_HOST"})
    String host();

    @WithDefault("8000")
    @Setting(
            doc = "Port to listen on; 0 takes a free one.",
            unit = "port",
            flags = {"--http-port", "--port"},
            env = {"DYN_HTTP_PORT"},
            min = 0,
            max = 65535)
    int port();

    @WithDefault("64M")
    @WithConverter(ByteSize.Reader.class)
    @Setting(
            doc = "Largest request body accepted; larger ones get 413.",
            flags = {"--http-max-body-size"},
            env = {"DYN_HTTP_BODY_LIMIT_MB:M"},
            minSize = "1K",
            maxSize = "1G")
    ByteSize maxBodySize();

    @WithDefault("0")
    @Setting(doc = "Event loop threads; 0: one per core.", unit = "threads", min = 0, max = 1024)
    int eventLoops();

    @WithDefault("100")
    @Setting(
            doc =
                    "Pause of an event loop after a turn in which an engine's answer came in a"
                            + " burst (three reads, each less than 0.5 ms after the one before), so"
                            + " that more bytes gather and fewer system calls are needed; 0: none."
                            + " Answers of one token a step never cause it.",
            unit = "µs",
            min = 0,
            max = 200)
    int gather();

    @WithDefault("1s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "What clients are told to wait when no worker is there or all are busy.",
            maxTime = "1h")
    Duration retryAfter();

    @WithDefault("529")
    @Setting(
            doc = "Status of requests that are refused because of load: 529 or 503.",
            unit = "status",
            env = {"DYN_HTTP_OVERLOAD_STATUS_CODE"},
            min = 503,
            max = 529)
    int overloadStatus();

    @WithDefault("4096")
    @Setting(
            doc = "Connections that may wait to be accepted.",
            unit = "connections",
            env = {"DYN_HTTP_LISTEN_BACKLOG"},
            min = 1,
            max = 65535)
    int acceptBacklog();

    @WithDefault("30s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "How long running answers may take to end after a signal to stop.",
            flags = {"--shutdown-grace"},
            maxTime = "1h")
    Duration shutdownGrace();

    @WithDefault("0s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "Pause between a signal to stop and the end of taking requests: `/ready` says"
                            + " 503 meanwhile, so that balancers and Kubernetes send no more.",
            flags = {"--shutdown-delay"},
            maxTime = "10m")
    Duration shutdownDelay();
}
