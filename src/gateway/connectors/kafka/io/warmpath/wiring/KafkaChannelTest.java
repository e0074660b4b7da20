package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.warmpath.wiring.channel.ChannelSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A build with Kafka's connector: the usage channel arrives at a real broker, a process of its own.
 */
@QuarkusTest
@Tag("quarkus")
@TestProfile(KafkaChannelTest.OnKafka.class)
class KafkaChannelTest {
    private static final String BROKER = "127.0.0.1:" + ChannelGateway.port("kafka");

    /** As serve does for {@code --usage-channel kafka}. */
    public static final class OnKafka implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            Map<String, String> all = new HashMap<>(ChannelSettings.properties("usage", "kafka"));
            all.put("warmpath.index.implementation", "java");
            all.put("warmpath.channels.usage", "kafka");
            all.put("kafka.bootstrap.servers", BROKER);
            return all;
        }
    }

    private static ProcessBuilder java(Path log, String... arguments) {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "-XX:+UseSerialGC",
                                "-cp",
                                System.getProperty("java.class.path")));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    }

    private static Process broker(Path folder) throws Exception {
        int controller = ChannelGateway.port("kafka-controller");
        Path settings = folder.resolve("server.properties");
        Files.writeString(
                settings,
                """
                process.roles=broker,controller
                node.id=1
                controller.quorum.voters=1@127.0.0.1:%d
                controller.listener.names=CONTROLLER
                listeners=PLAINTEXT://%s,CONTROLLER://127.0.0.1:%d
                advertised.listeners=PLAINTEXT://%s
                log.dirs=%s
                offsets.topic.replication.factor=1
                """
                        .formatted(controller, BROKER, controller, BROKER, folder.resolve("logs")));
        Path log = folder.resolve("kafka.log");
        Process format =
                java(
                                log,
                                "kafka.tools.StorageTool",
                                "format",
                                "-t",
                                "MkU3OEVBNTcwNTJENDM2Qk",
                                "-c",
                                settings.toString())
                        .start();
        assertEquals(0, format.waitFor(), () -> text(log));
        return java(log, "kafka.Kafka", settings.toString()).start();
    }

    private static String text(Path log) {
        try {
            return Files.readString(log);
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }

    @Test
    void a_request_is_one_record_on_the_topic(@TempDir Path folder) throws Exception {
        Process broker = broker(folder);
        try (TestEngine engine = TestEngine.sglang();
                KafkaConsumer<String, String> consumer =
                        new KafkaConsumer<>(
                                Map.of(
                                        "bootstrap.servers",
                                        BROKER,
                                        "group.id",
                                        "test",
                                        "auto.offset.reset",
                                        "earliest",
                                        "metadata.max.age.ms",
                                        "500"),
                                new StringDeserializer(),
                                new StringDeserializer())) {
            consumer.subscribe(List.of("usage"));
            ChannelGateway.serve(engine);
            ChannelGateway.ask("first");
            ChannelGateway.ask("second");
            List<String> ids = new ArrayList<>();
            await().atMost(ChannelGateway.SOON)
                    .until(
                            () -> {
                                for (ConsumerRecord<String, String> r :
                                        consumer.poll(Duration.ofMillis(200))) {
                                    ids.add(
                                            new ObjectMapper()
                                                    .readTree(r.value())
                                                    .get("request_id")
                                                    .textValue());
                                }
                                return ids.size() >= 2;
                            });
            assertEquals(List.of("first", "second"), ids);
            await().atMost(ChannelGateway.SOON)
                    .untilAsserted(() -> assertEquals(2, ChannelGateway.sent()));
            assertEquals(1, ChannelGateway.metric("warmpath_channel_connected{channel=\"usage\"}"));
        } finally {
            broker.destroyForcibly().onExit().join();
        }
    }
}
