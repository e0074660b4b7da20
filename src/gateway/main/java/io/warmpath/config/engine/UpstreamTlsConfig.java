package io.warmpath.config.engine;

import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import java.util.Optional;

/** Engines behind {@code https}. */
public interface UpstreamTlsConfig {
    @Setting(
            doc =
                    "PEM file of the certificates that may sign engines' certificates; unset:"
                            + " those that the JDK trusts.",
            unit = "path")
    Optional<String> caFile();

    @Setting(
            doc =
                    "PEM file of the gateway's own certificate and its chain, for engines that"
                            + " ask for one.",
            unit = "path")
    Optional<String> certFile();

    @Setting(
            doc = "PEM file of its private key: PKCS #8 (`BEGIN PRIVATE KEY`), not encrypted.",
            unit = "path")
    Optional<String> keyFile();

    @WithDefault("true")
    @Setting(
            doc =
                    "Check engines' certificates and the names in them. Off, any certificate"
                            + " will do.")
    boolean verify();
}
