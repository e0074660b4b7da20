package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.nats.client.Connection;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.telemetry.channel.RecordChannel;
import io.warmpath.wiring.channel.ChannelSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.logging.Level;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** The channels of records in the running application, over a real server that comes and goes. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(RecordChannelsTest.OnNats.class)
@EnabledIf("natsIsInstalled")
@Tag("slow")
class RecordChannelsTest {
    private static final Duration SOON = ChannelGateway.SOON;
    private static final NatsNames NAMES = new NatsNames("warmpath", "backend");

    static boolean natsIsInstalled() {
        return NatsServer.installed();
    }

    /** As serve does for {@code --usage-channel nats --decisions-channel nats}. */
    public static final class OnNats implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            Map<String, String> all = new HashMap<>();
            all.put("warmpath.index.implementation", "java");
            all.put("warmpath.nats.servers", "nats://127.0.0.1:" + ChannelGateway.port("nats"));
            all.put("warmpath.channels.usage", "nats");
            all.put("warmpath.channels.decisions", "nats");
            all.put("warmpath.channels.queue", "4");
            all.putAll(ChannelSettings.properties("usage", "nats"));
            all.putAll(ChannelSettings.properties("decisions", "nats"));
            return all;
        }
    }

    private int asked;

    private void ask(String id) {
        ChannelGateway.ask(id);
        asked++;
    }

    @Test
    void every_request_is_one_stored_record_and_an_outage_costs_records_and_no_request(
            @TempDir Path store) throws Exception {
        Logs logs = new Logs(RecordChannel.class);
        try (TestEngine engine = TestEngine.sglang()) {
            ChannelGateway.serve(engine);
            ask("before-the-server");
            try (NatsServer server = NatsServer.start(store, ChannelGateway.port("nats"))) {
                await().atMost(SOON).untilAsserted(() -> assertEquals(1, ChannelGateway.sent()));
                JsonNode first = records(server, "usage", 1).values().iterator().next();
                assertEquals("before-the-server", first.get("request_id").textValue());
                assertEquals("one", first.get("worker").textValue());
                assertEquals("ok", first.get("outcome").textValue());
                assertEquals(200, first.get("status").intValue());
                assertEquals("tiny", first.get("model").textValue());
                assertTrue(first.get("cost").isNumber(), first::toString);
                assertEquals(
                        1, ChannelGateway.metric("warmpath_channel_connected{channel=\"usage\"}"));

                await().atMost(SOON)
                        .ignoreExceptions() // their stream may not be there yet
                        .untilAsserted(
                                () ->
                                        assertTrue(
                                                records(server, "decisions", 2)
                                                        .containsKey("before-the-server")));
                server.kill();
                // What the connector tries again, and the queue, take some; all requests are
                // served.
                for (int i = 0; i < 80; i++) {
                    ask("away-" + i);
                }
                assertTrue(
                        ChannelGateway.lost("queue_full") > 0,
                        "an outage must cost something here");
                assertEquals(
                        0, ChannelGateway.metric("warmpath_channel_connected{channel=\"usage\"}"));
                assertEquals(
                        1,
                        logs.at(Level.WARNING).stream().filter(l -> l.contains("usage")).count(),
                        () -> "" + logs.at(Level.WARNING));

                server.restart();
                await().atMost(SOON)
                        .untilAsserted(
                                () ->
                                        assertEquals(
                                                asked,
                                                ChannelGateway.sent()
                                                        + ChannelGateway.lost("queue_full")));
                ask("after");
                await().atMost(SOON)
                        .untilAsserted(
                                () ->
                                        assertEquals(
                                                asked,
                                                ChannelGateway.sent()
                                                        + ChannelGateway.lost("queue_full")));
                assertEquals(
                        1, ChannelGateway.metric("warmpath_channel_connected{channel=\"usage\"}"));
                Map<String, JsonNode> all = records(server, "usage", (int) ChannelGateway.sent());
                assertTrue(all.containsKey("after"));
                assertEquals(ChannelGateway.sent(), all.size(), "each is stored once");
                assertTrue(
                        records(server, "decisions", 2).containsKey("before-the-server"),
                        "a decision, and its end");
                assertEquals(0, ChannelGateway.lost("refused"));
            }
        } finally {
            logs.close();
        }
    }

    /** By request; those without one by their number. There are no more than these. */
    private static Map<String, JsonNode> records(NatsServer server, String topic, int most)
            throws Exception {
        Connection c = Nats.connect(server.url());
        JetStreamSubscription all = c.jetStream().subscribe(NAMES.records(topic));
        Map<String, JsonNode> out = new HashMap<>();
        Set<Long> numbers = new HashSet<>();
        Message m = all.nextMessage(SOON);
        while (m != null) {
            numbers.add(m.metaData().streamSequence());
            JsonNode json = new ObjectMapper().readTree(m.getData());
            out.put(json.path("request_id").asText("" + numbers.size()), json);
            m = m.metaData().pendingCount() == 0 ? null : all.nextMessage(SOON);
        }
        if (topic.equals("usage")) {
            assertEquals(most, numbers.size());
        } else {
            assertTrue(numbers.size() >= most);
        }
        c.close();
        return out;
    }
}
