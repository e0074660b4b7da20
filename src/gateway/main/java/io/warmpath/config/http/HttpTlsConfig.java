package io.warmpath.config.http;

import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import java.util.Optional;

/** TLS towards clients. Part of {@link WarmpathConfig}. */
public interface HttpTlsConfig {
    @Setting(
            doc =
                    "PEM file of the gateway's certificate and its chain. With it clients are served"
                            + " over TLS only, HTTP/2 too. The files are read again every"
                            + " `warmpath.auth.reload-interval`; connections that are open go on.",
            unit = "path",
            flags = {"--tls-cert-path"},
            env = {"DYN_TLS_CERT_PATH"})
    Optional<String> certFile();

    @Setting(
            doc = "PEM file of its private key: PKCS #8 (`BEGIN PRIVATE KEY`), not encrypted.",
            unit = "path",
            flags = {"--tls-key-path"},
            env = {"DYN_TLS_KEY_PATH"})
    Optional<String> keyFile();

    @Setting(
            doc =
                    "PEM file of the authorities that sign clients' certificates. With it every"
                            + " client must show one, probes too.",
            unit = "path")
    Optional<String> clientCaFile();
}
