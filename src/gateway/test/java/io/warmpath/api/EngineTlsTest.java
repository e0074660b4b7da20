package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.admission.AdmissionOptions;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.UpstreamOptions;
import io.warmpath.upstream.tls.EngineTls;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Engines behind TLS. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class EngineTlsTest {
    @TempDir static Path folder;

    private static Certificates.Identity here;
    private static Certificates.Identity elsewhere;
    private static Certificates.Identity ours;

    @Parameter EnginePath path;

    private Gateway gateway;
    private StubEngine engine;

    @BeforeAll
    static void certificates() throws Exception {
        here = Certificates.make(folder, "here", "ip:127.0.0.1");
        elsewhere = Certificates.make(folder, "elsewhere", "dns:engine.example");
        ours = Certificates.make(folder, "gateway", "dns:gateway.example");
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        gateway.close();
        engine.close();
    }

    private void start(SSLContext server, boolean asksForCertificate, EngineTls tls)
            throws Exception {
        SSLServerSocket socket =
                (SSLServerSocket) server.getServerSocketFactory().createServerSocket();
        socket.setNeedClientAuth(asksForCertificate);
        engine =
                new StubEngine(
                        socket,
                        "https",
                        0,
                        call -> {
                            call.streamHead();
                            call.chunk(StreamingPathTest.token("a"));
                            call.chunk(StreamingPathTest.token("x".repeat(40_000)));
                            call.chunk(StreamingPathTest.DONE);
                            call.lastChunk();
                        });
        gateway =
                new Gateway(
                        path,
                        GatewayOptions.defaults(),
                        UpstreamOptions.defaults(),
                        tls,
                        Runnable::run,
                        AdmissionOptions.OFF);
        gateway.serve(engine);
    }

    private void streams() throws Exception {
        String whole =
                StreamingPathTest.token("a")
                        + StreamingPathTest.token("x".repeat(40_000))
                        + StreamingPathTest.DONE;
        for (int i = 0; i < 3; i++) {
            assertEquals(whole, gateway.post(Gateway.ASK).body());
        }
        assertTrue(engine.connections.get() <= 2, "connections are kept");
    }

    private void refuses() throws Exception {
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(503, answer.status(), answer.body());
        assertEquals(0, engine.requests.get());
    }

    @Test
    void an_engine_whose_certificate_is_signed_by_the_given_authority_is_used() throws Exception {
        start(
                Certificates.server(here, null),
                false,
                new EngineTls(here.certificate(), null, null, true));
        streams();
    }

    @Test
    void a_certificate_that_nobody_vouches_for_is_refused() throws Exception {
        start(
                Certificates.server(here, null),
                false,
                new EngineTls(ours.certificate(), null, null, true));
        refuses();
    }

    @Test
    void a_certificate_for_another_name_is_refused() throws Exception {
        start(
                Certificates.server(elsewhere, null),
                false,
                new EngineTls(elsewhere.certificate(), null, null, true));
        refuses();
    }

    @Test
    void checking_can_be_switched_off() throws Exception {
        start(Certificates.server(elsewhere, null), false, new EngineTls(null, null, null, false));
        streams();
    }

    @Test
    void an_engine_that_asks_for_a_certificate_gets_ours() throws Exception {
        start(
                Certificates.server(here, ours),
                true,
                new EngineTls(here.certificate(), ours.certificate(), ours.key(), true));
        streams();
    }

    @Test
    void without_a_certificate_such_an_engine_serves_nothing() throws Exception {
        start(
                Certificates.server(here, ours),
                true,
                new EngineTls(here.certificate(), null, null, true));
        // With TLS 1.3 the refusal comes after the handshake, as a broken connection.
        int status = gateway.post(Gateway.ASK).status();
        assertTrue(status == 502 || status == 503, "status " + status);
        assertEquals(0, engine.requests.get());
    }

    @Test
    void files_that_cannot_be_used_are_named() throws Exception {
        start(Certificates.server(here, null), false, EngineTls.standard());
        Path none = folder.resolve("none.pem");
        Path junk = folder.resolve("junk.pem");
        Files.writeString(junk, "junk");
        for (Path file : new Path[] {none, junk}) {
            String said =
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> new EngineTls(file, null, null, true))
                            .getMessage();
            assertTrue(said.contains(file.toString()), said);
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> new EngineTls(null, here.certificate(), null, true));
        assertThrows(
                IllegalArgumentException.class,
                () -> new EngineTls(null, here.certificate(), junk, true));
    }

    /** The engine's authority and our own certificate, both exchanged while it runs. */
    @Test
    void files_that_change_count_for_new_connections_and_running_streams_go_on() throws Exception {
        Path authorities = Files.copy(here.certificate(), folder.resolve(path + "-ca.pem"));
        Path certificate = Files.copy(elsewhere.certificate(), folder.resolve(path + "-own.pem"));
        Path key = Files.copy(elsewhere.key(), folder.resolve(path + "-own.key"));
        EngineTls tls = new EngineTls(authorities, certificate, key, true);
        SSLServerSocket socket =
                (SSLServerSocket)
                        Certificates.server(here, ours)
                                .getServerSocketFactory()
                                .createServerSocket();
        socket.setNeedClientAuth(true);
        CountDownLatch goOn = new CountDownLatch(1);
        engine =
                new StubEngine(
                        socket,
                        "https",
                        0,
                        call -> {
                            call.streamHead();
                            call.chunk(StreamingPathTest.token("a"));
                            if (call.header("x-wait") != null) {
                                goOn.await();
                            }
                            call.chunk(StreamingPathTest.DONE);
                            call.lastChunk();
                        });
        gateway =
                new Gateway(
                        path,
                        GatewayOptions.defaults(),
                        UpstreamOptions.defaults(),
                        tls,
                        Runnable::run,
                        AdmissionOptions.OFF);
        gateway.serve(engine);
        assertTrue(gateway.post(Gateway.ASK).status() >= 500, "it does not know us");

        // A pair that does not fit is refused, what was there stays.
        Files.copy(ours.certificate(), certificate, StandardCopyOption.REPLACE_EXISTING);
        assertTrue(
                assertThrows(IllegalArgumentException.class, tls::reload)
                        .getMessage()
                        .contains("not that of the certificate"));
        Files.copy(ours.key(), key, StandardCopyOption.REPLACE_EXISTING);
        tls.reload();
        assertEquals(200, gateway.post(Gateway.ASK).status());

        try (RawClient running = new RawClient(gateway.port)) {
            running.sendPost(Gateway.CHAT, Gateway.ASK, "x-wait: 1");
            running.readHead();
            // From now on nobody vouches for it.
            Files.copy(ours.certificate(), authorities, StandardCopyOption.REPLACE_EXISTING);
            tls.reload();
            goOn.countDown();
            StringBuilder rest = new StringBuilder();
            for (String c = running.readChunk(); !c.isEmpty(); c = running.readChunk()) {
                rest.append(c);
            }
            assertTrue(rest.toString().endsWith(StreamingPathTest.DONE), rest::toString);
        }
        engine.closeConnections();
        await().until(() -> gateway.post(Gateway.ASK).status() >= 500);
    }
}
