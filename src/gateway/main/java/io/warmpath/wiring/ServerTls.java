package io.warmpath.wiring;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * TLS towards clients, as settings of the runtime, whose registry of certificates reads changed
 * files again, and of the JDK. They must be there before it starts.
 */
final class ServerTls {
    private static final String NAME = "clients";

    private ServerTls() {}

    /**
     * @param clients file of the authorities of clients' certificates
     * @throws IllegalArgumentException when one file is missing
     */
    static Map<String, String> properties(
            Optional<String> certificate,
            Optional<String> key,
            Optional<String> clients,
            Duration reload) {
        if (certificate.isPresent() != key.isPresent()) {
            throw new IllegalArgumentException(
                    "TLS needs both: warmpath.http.tls.cert-file (--tls-cert-path) and key-file"
                            + " (--tls-key-path).");
        }
        if (certificate.isEmpty() && clients.isPresent()) {
            throw new IllegalArgumentException(
                    "warmpath.http.tls.client-ca-file needs cert-file and key-file: without TLS"
                            + " nobody shows a certificate.");
        }
        Map<String, String> set = new LinkedHashMap<>();
        if (certificate.isPresent() && key.isPresent()) {
            String tls = "quarkus.tls." + NAME + '.';
            set.put(tls + "key-store.pem.0.cert", certificate.get());
            set.put(tls + "key-store.pem.0.key", key.get());
            set.put(tls + "protocols", "TLSv1.3,TLSv1.2");
            set.put(tls + "reload-period", reload.toMillis() + "ms");
            set.put("quarkus.http.tls-configuration-name", NAME);
            // The JDK's own key: another handshake on the same connection costs a client nothing.
            set.put("jdk.tls.rejectClientInitiatedRenegotiation", "true");
            clients.ifPresent(file -> set.put(tls + "trust-store.pem.certs", file));
        }
        return set;
    }

    /** With these, nothing is served without TLS. */
    static Map<String, String> instead(String port) {
        return Map.of("quarkus.http.insecure-requests", "disabled", "quarkus.http.ssl-port", port);
    }
}
