package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.warmpath.api.Certificates;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** TLS towards clients who must show a certificate, with files that change while it runs. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(ServerTlsTest.Tls.class)
@Tag("slow")
class ServerTlsTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Path FOLDER = Path.of("target", "server-tls");

    @TestHTTPResource(value = "/", tls = true)
    URI gateway;

    public static final class Tls implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            try {
                Files.createDirectories(FOLDER);
                for (String name : new String[] {"first", "second", "client"}) {
                    Files.deleteIfExists(FOLDER.resolve(name + ".p12"));
                    Certificates.make(FOLDER, name, "ip:127.0.0.1");
                }
                put("first");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            String clients = FOLDER.resolve("client.crt").toString();
            Map<String, String> all =
                    new HashMap<>(
                            ServerTls.properties(
                                    Optional.of(FOLDER.resolve("live/own.crt").toString()),
                                    Optional.of(FOLDER.resolve("live/own.key").toString()),
                                    Optional.of(clients),
                                    Duration.ofMillis(200)));
            all.put("warmpath.http.tls.client-ca-file", clients);
            all.put("warmpath.index.implementation", "java");
            all.put("quarkus.http.test-ssl-port", "0");
            return all;
        }
    }

    /** As mounted secrets change: one link is replaced, and both files with it. */
    private static void put(String name) throws IOException {
        Path pair = Files.createDirectories(FOLDER.resolve("pair-" + name));
        for (String kind : new String[] {".crt", ".key"}) {
            Files.copy(
                    FOLDER.resolve(name + kind),
                    pair.resolve("own" + kind),
                    StandardCopyOption.REPLACE_EXISTING);
        }
        Path next = FOLDER.resolve("next");
        Files.deleteIfExists(next);
        Files.createSymbolicLink(next, pair.getFileName());
        Files.move(next, FOLDER.resolve("live"), StandardCopyOption.ATOMIC_MOVE);
    }

    private static KeyStore store(String name) throws Exception {
        return KeyStore.getInstance(
                FOLDER.resolve(name + ".p12").toFile(), "changeit".toCharArray());
    }

    /** Trusts both of the gateway's certificates; shows {@code own}, or none. */
    private static SSLContext client(String own) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        for (String name : new String[] {"first", "second"}) {
            trusted.setCertificateEntry(name, store(name).getCertificate("k"));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        if (own != null) {
            keys.init(store(own), "changeit".toCharArray());
        }
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private SSLSocket connect(String own) throws Exception {
        SSLSocket socket =
                (SSLSocket)
                        client(own).getSocketFactory().createSocket("127.0.0.1", gateway.getPort());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static String shown(SSLSocket socket) throws IOException {
        return ((X509Certificate) socket.getSession().getPeerCertificates()[0])
                .getSubjectX500Principal()
                .getName();
    }

    /** One request on a connection that stays open. */
    private static int ask(SSLSocket socket) throws IOException {
        socket.getOutputStream()
                .write("GET /live HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        BufferedReader in =
                new BufferedReader(
                        new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        String line = in.readLine();
        if (line == null) {
            throw new IOException("closed");
        }
        int length = 0;
        for (String h = in.readLine(); h != null && !h.isEmpty(); h = in.readLine()) {
            if (h.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                length = Integer.parseInt(h.substring(15).strip());
            }
        }
        for (int i = 0; i < length; i++) {
            in.read();
        }
        return Integer.parseInt(line.split(" ", -1)[1]);
    }

    @Test
    void a_new_certificate_is_shown_to_new_connections_and_open_ones_go_on() throws Exception {
        try (SSLSocket open = connect("client")) {
            assertEquals(200, ask(open));
            assertEquals("CN=first", shown(open));
            put("second");
            await().atMost(SOON)
                    // A connection that is being set up while the files are read may be reset.
                    .ignoreExceptionsInstanceOf(IOException.class)
                    .until(
                            () -> {
                                ask(open); // or it would be closed for its idleness
                                try (SSLSocket later = connect("client")) {
                                    return ask(later) == 200 && shown(later).equals("CN=second");
                                }
                            });
            assertEquals(200, ask(open));
            assertEquals("CN=first", shown(open));
        } finally {
            put("first");
        }
    }

    @Test
    void a_client_without_a_certificate_that_counts_is_not_served() {
        for (String own : new String[] {null, "second"}) {
            assertThrows(
                    IOException.class,
                    () -> {
                        try (SSLSocket socket = connect(own)) {
                            ask(socket);
                        }
                    },
                    String.valueOf(own));
        }
    }

    @Test
    void half_a_configuration_is_said_before_the_start() {
        Optional<String> none = Optional.empty();
        Optional<String> file = Optional.of("x");
        for (Optional<String> certificate : List.of(none, file)) {
            assertThrows(
                    IllegalArgumentException.class,
                    () ->
                            ServerTls.properties(
                                    certificate,
                                    certificate.isEmpty() ? file : none,
                                    none,
                                    Duration.ZERO));
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> ServerTls.properties(none, none, file, Duration.ZERO));
        assertTrue(ServerTls.properties(none, none, none, Duration.ZERO).isEmpty());
    }
}
