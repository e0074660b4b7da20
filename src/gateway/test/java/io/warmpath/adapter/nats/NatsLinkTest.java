package io.warmpath.adapter.nats;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Connection;
import io.nats.client.JetStreamManagement;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.warmpath.api.Certificates;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The connection, with real servers. */
@Timeout(60)
@Tag("slow")
class NatsLinkTest {
    @TempDir Path folder;

    @Test
    void a_link_outlives_its_server_and_the_stream_outlives_both() throws Exception {
        try (NatsServer server = NatsServer.start(folder);
                NatsLink link = NatsLink.open(server.options(), "test")) {
            BlockingQueue<Boolean> changes = new LinkedBlockingQueue<>();
            await().until(link::connected);
            link.listen(changes::add);
            assertTrue(changes.take());
            Connection c = link.connection().orElseThrow();
            JetStreamManagement streams = c.jetStreamManagement();
            streams.addStream(
                    StreamConfiguration.builder()
                            .name("s")
                            .subjects("s.>")
                            .storageType(StorageType.File)
                            .build());
            c.jetStream().publish("s.a", "kept".getBytes(StandardCharsets.UTF_8));
            server.kill();
            assertFalse(changes.take());
            assertFalse(server.running());
            assertThrows(IllegalStateException.class, () -> c.publish("x", new byte[1]));
            server.restart();
            assertTrue(changes.poll(30, TimeUnit.SECONDS));
            assertEquals(1, link.losses());
            assertEquals(
                    "kept",
                    new String(
                            streams.getLastMessage("s", "s.a").getData(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void a_server_that_comes_later_is_found() throws Exception {
        try (NatsServer server = NatsServer.start(folder)) {
            server.kill();
            try (NatsLink link = NatsLink.open(server.options(), "test")) {
                assertFalse(link.connected());
                assertTrue(link.connection().isEmpty());
                server.restart();
                await().until(link::connected);
            }
        }
    }

    @Test
    void a_link_that_was_never_connected_can_be_closed() throws Exception {
        try (NatsServer server = NatsServer.start(folder)) {
            server.kill();
            NatsLink link = NatsLink.open(server.options(), "test");
            link.close();
            server.restart();
            assertFalse(link.connected());
        }
    }

    @Test
    void a_user_and_password_are_shown() throws Exception {
        try (NatsServer server =
                NatsServer.start(folder, "authorization { user: u, password: secret }")) {
            NatsOptions right =
                    new NatsOptions(
                            List.of(server.url()), null, "u", "secret", null, null, null, null);
            try (NatsLink link = NatsLink.open(right, "test")) {
                await().until(link::connected);
            }
            try (NatsLink link = NatsLink.open(server.options(), "test")) {
                await().until(() -> link.errors() > 0);
                assertFalse(link.connected());
            }
        }
    }

    @Test
    void both_sides_of_tls_are_checked_and_the_name_too() throws Exception {
        Certificates.Identity good = Certificates.make(folder, "good", "ip:127.0.0.1");
        Certificates.Identity other = Certificates.make(folder, "other", "dns:elsewhere");
        Certificates.Identity client = Certificates.make(folder, "client", "dns:gateway");
        try (NatsServer server = NatsServer.start(folder.resolve("a"), tls(good, client));
                NatsLink link = NatsLink.open(over(server, good, client), "test")) {
            await().until(link::connected);
        }
        try (NatsServer server = NatsServer.start(folder.resolve("b"), tls(other, client));
                NatsLink link = NatsLink.open(over(server, other, client), "test")) {
            await().until(() -> server.said().contains("TLS handshake error"));
            assertFalse(link.connected());
        }
    }

    private static String tls(Certificates.Identity own, Certificates.Identity client) {
        return "tls { cert_file: \"%s\", key_file: \"%s\", ca_file: \"%s\", verify: true }"
                .formatted(own.certificate(), own.key(), client.certificate());
    }

    private static NatsOptions over(
            NatsServer server, Certificates.Identity trusted, Certificates.Identity own) {
        return new NatsOptions(
                List.of(server.url()),
                null,
                null,
                null,
                null,
                trusted.certificate(),
                own.certificate(),
                own.key());
    }

    @Test
    void settings_that_cannot_be_are_refused_by_name() {
        assertThrows(IllegalArgumentException.class, () -> NatsOptions.of("http://x:1"));
        assertThrows(IllegalArgumentException.class, NatsOptions::of);
        String shown = NatsOptions.of("nats://user:secret@host:4222").toString();
        assertFalse(shown.contains("secret"), shown);
    }
}
