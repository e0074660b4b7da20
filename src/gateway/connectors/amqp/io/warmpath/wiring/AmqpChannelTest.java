package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.vertx.amqp.AmqpClient;
import io.vertx.amqp.AmqpClientOptions;
import io.vertx.core.Vertx;
import io.warmpath.wiring.channel.ChannelSettings;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A build with the AMQP connector: the usage channel arrives at a real broker, a process of its
 * own.
 */
@QuarkusTest
@Tag("quarkus")
@TestProfile(AmqpChannelTest.OnAmqp.class)
class AmqpChannelTest {
    /** As serve does for {@code --usage-channel amqp}. */
    public static final class OnAmqp implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            Map<String, String> all = new HashMap<>(ChannelSettings.properties("usage", "amqp"));
            all.put("warmpath.index.implementation", "java");
            all.put("warmpath.channels.usage", "amqp");
            all.put("amqp-host", "127.0.0.1");
            all.put("amqp-port", "" + ChannelGateway.port("amqp"));
            all.put("mp.messaging.outgoing.usage.reconnect-interval", "1");
            return all;
        }
    }

    @Test
    void a_request_is_one_message_at_the_address(@TempDir Path folder) throws Exception {
        int port = ChannelGateway.port("amqp");
        ChildJvm broker =
                ChildJvm.start(
                        folder.resolve("broker.log"),
                        "ready",
                        AmqpBroker.class,
                        List.of("" + port));
        Vertx vertx = Vertx.vertx();
        try (TestEngine engine = TestEngine.sglang()) {
            List<String> bodies = new CopyOnWriteArrayList<>();
            AmqpClient client =
                    AmqpClient.create(
                            vertx, new AmqpClientOptions().setHost("127.0.0.1").setPort(port));
            client.createReceiver("usage")
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(20, TimeUnit.SECONDS)
                    .handler(m -> bodies.add(m.bodyAsString()));
            ChannelGateway.serve(engine);
            ChannelGateway.ask("first");
            ChannelGateway.ask("second");
            await().atMost(ChannelGateway.SOON)
                    .untilAsserted(() -> assertEquals(2, ChannelGateway.sent()));
            await().atMost(ChannelGateway.SOON).untilAsserted(() -> assertEquals(2, bodies.size()));
            assertEquals(
                    "first",
                    new ObjectMapper().readTree(bodies.getFirst()).get("request_id").textValue());
            assertEquals(1, ChannelGateway.metric("warmpath_channel_connected{channel=\"usage\"}"));
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
            broker.kill();
        }
    }
}
