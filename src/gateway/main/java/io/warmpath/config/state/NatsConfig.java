package io.warmpath.config.state;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** How NATS is reached, where something needs it. Part of {@link WarmpathConfig}. */
public interface NatsConfig {
    @WithDefault("nats://127.0.0.1:4222")
    @Setting(
            doc = "NATS servers of one cluster; connected only when something needs NATS.",
            unit = "URL,URL,...",
            flags = "--nats-servers",
            env = "NATS_SERVER")
    List<String> servers();

    @WithDefault("warmpath")
    @Setting(
            doc =
                    "First part of all names at the NATS server: who shares it shares events,"
                            + " snapshots and load.",
            unit = "name",
            flags = "--namespace",
            env = "DYN_NAMESPACE")
    String namespace();

    @WithDefault("backend")
    @Setting(
            doc = "Second part of all names at the NATS server: one set of workers.",
            unit = "name",
            env = "DYN_COMPONENT")
    String component();

    @Setting(
            doc =
                    "Name of this gateway among those of one component; default: host name and HTTP"
                            + " port. Another gateway of the same name would take its place in the"
                            + " stream.",
            unit = "name",
            flags = "--router-id")
    Optional<String> routerId();

    @WithDefault("1h")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "How long the stream keeps KV events, when this gateway is the one to make it.",
            minTime = "1m",
            maxTime = "30d")
    Duration retention();

    @WithDefault("5s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "Silence of a relay, which says every second that it lives, to count as gone.",
            minTime = "2s",
            maxTime = "10m")
    Duration relayTimeout();

    @Setting(
            doc = "File with a NATS JWT and its seed.",
            unit = "path",
            env = "NATS_AUTH_CREDENTIALS_FILE")
    Optional<String> credentialsFile();

    @Setting(
            doc = "User name for servers that ask for one and a password.",
            unit = "name",
            env = "NATS_AUTH_USERNAME")
    Optional<String> user();

    @Setting(
            doc = "Password that belongs to the user name.",
            env = "NATS_AUTH_PASSWORD",
            secret = true)
    Optional<String> password();

    @Setting(doc = "Token for servers that ask for one.", env = "NATS_AUTH_TOKEN", secret = true)
    Optional<String> token();

    NatsTls tls();

    /** NATS servers that want TLS; also used when an address begins with {@code tls://}. */
    interface NatsTls {
        @Setting(
                doc =
                        "PEM file of the certificates that may sign the NATS server's; unset: those"
                                + " that the JDK trusts.",
                unit = "path")
        Optional<String> caFile();

        @Setting(
                doc = "PEM file of our own certificate, for servers that ask for one.",
                unit = "path")
        Optional<String> certFile();

        @Setting(
                doc = "PEM file of its private key: PKCS #8 (`BEGIN PRIVATE KEY`), not encrypted.",
                unit = "path")
        Optional<String> keyFile();
    }
}
