package io.warmpath.config.http;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.ByteSize;
import io.warmpath.config.setting.Setting;
import java.util.Optional;

/**
 * The endpoint picker for proxies that send requests themselves. Part of {@link WarmpathConfig}.
 */
public interface PickerConfig {
    @WithDefault("0")
    @Setting(
            doc =
                    "Port of the endpoint picker: Envoy's ext_proc over gRPC, as the Gateway API"
                            + " Inference Extension wants it, and gRPC health"
                            + " (src/docs/how-to/endpoint-picker.md). 0: none, or 9002 with `only`.",
            unit = "port",
            flags = "--endpoint-picker-port",
            min = 0,
            max = 65535)
    int port();

    @WithDefault("false")
    @Setting(
            doc =
                    "Only proxies send requests to engines: clients' own are refused with 403. What"
                            + " operators ask, the metrics and the probes stay. On in `warmpath"
                            + " picker`.",
            flags = "--endpoint-picker-only")
    boolean only();

    @WithDefault("true")
    @Setting(
            doc =
                    "TLS on the picker's port, as gateways expect it; with a certificate made at the"
                            + " start where `cert-file` names none. false: HTTP/2 in clear text.",
            flags = "--endpoint-picker-tls",
            offFlags = "--no-endpoint-picker-tls")
    boolean tls();

    @Setting(
            doc = "PEM file of the picker's certificate and its chain; needs `key-file`.",
            unit = "path")
    Optional<String> certFile();

    @Setting(
            doc = "PEM file of its private key: PKCS #8 (`BEGIN PRIVATE KEY`), not encrypted.",
            unit = "path")
    Optional<String> keyFile();

    @Setting(
            doc =
                    "PEM file of the authorities that sign proxies' certificates. With it every proxy"
                            + " must show one, and every checker of health.",
            unit = "path")
    Optional<String> clientCaFile();

    @WithDefault("62000")
    @WithConverter(ByteSize.Reader.class)
    @Setting(
            doc =
                    "Largest piece of a request's body that goes back to the proxy in one message;"
                            + " some proxies take no more than 64 KiB.",
            minSize = "1K",
            maxSize = "16M")
    ByteSize pieceSize();

    @WithDefault("0")
    @Setting(
            doc =
                    "Endpoints that are named behind the chosen one, for the proxy's retries: the next"
                            + " best. Only for proxies that take a list (Envoy's `override_host`);"
                            + " others answer a list with 503.",
            unit = "endpoints",
            min = 0,
            max = 16)
    int fallbacks();

    @WithDefault("false")
    @Setting(
            doc =
                    "Requests may name their endpoints in `test-epp-endpoint-selection`, as the"
                            + " extension's conformance tests do, and answers tell in"
                            + " `x-conformance-test-served-endpoint` who the proxy says has served"
                            + " them. For tests only.")
    boolean testHeader();
}
