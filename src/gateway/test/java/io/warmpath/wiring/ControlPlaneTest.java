package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nats.client.Connection;
import io.nats.client.Subscription;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.vertx.core.json.JsonObject;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.wiring.control.Announcements;
import io.warmpath.wiring.control.ControlPlane;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reactive messaging's channels in the running application, over a real server. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(ControlPlaneTest.Channels.class)
class ControlPlaneTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final NatsNames NAMES = new NatsNames("test", "control");

    /** As serve does where NATS is needed. */
    public static final class Channels implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of(
                    "warmpath.index.implementation", "java",
                    "mp.messaging.incoming.control-in.enabled", "true",
                    "mp.messaging.outgoing.control-out.enabled", "true");
        }
    }

    private final ControlPlane plane;

    @Inject
    ControlPlaneTest(ControlPlane plane) {
        this.plane = plane;
    }

    @Test
    void gateways_hear_each_other_once_there_is_a_link_and_nothing_before(@TempDir Path store)
            throws Exception {
        plane.say(Announcements.Kind.STARTED, Map.of()); // to nobody
        String subject = NAMES.control("routers");
        try (NatsServer server = NatsServer.start(store);
                NatsLink link = NatsLink.open(server.options(), "plane");
                NatsLink others = NatsLink.open(server.options(), "other")) {
            await().atMost(SOON).until(others::connected);
            Connection other = others.connection().orElseThrow();
            Subscription heard = other.subscribe(subject);
            other.flush(SOON);
            await().atMost(SOON).until(link::connected);
            plane.open(link, NAMES, "me");
            plane.say(Announcements.Kind.SNAPSHOT, Map.of("position", 7));
            assertEquals(
                    new JsonObject(Map.of("kind", "SNAPSHOT", "router", "me", "position", 7)),
                    new JsonObject(
                            new String(heard.nextMessage(SOON).getData(), StandardCharsets.UTF_8)));
            // One by one, so that what does not count is known to have come.
            say(other, subject, "{\"kind\":\"RESET\",\"router\":\"me\"}");
            say(other, subject, "no JSON");
            say(other, subject, "[\"kind\"]");
            say(other, subject, "{\"kind\":\"OF A LATER VERSION\",\"router\":\"you\",\"n\":1}");
            say(other, subject, "{\"kind\":\"RESET\",\"router\":\"you\"}");
            await().atMost(Duration.ofSeconds(4))
                    .untilAsserted(() -> assertEquals(2, plane.received()));

            server.kill();
            await().atMost(SOON).until(() -> !link.connected());
            plane.say(Announcements.Kind.ENDED, Map.of()); // lost, and harms nothing
            server.restart();
            await().atMost(SOON).until(() -> link.connected() && others.connected());
            other.flush(SOON);
            await().atMost(SOON)
                    .until(
                            () -> {
                                say(other, subject, "{\"kind\":\"STARTED\",\"router\":\"you\"}");
                                return plane.received() > 2;
                            });
        }
    }

    private static void say(Connection other, String subject, String text) throws Exception {
        other.publish(subject, text.getBytes(StandardCharsets.UTF_8));
        other.flush(SOON);
    }
}
