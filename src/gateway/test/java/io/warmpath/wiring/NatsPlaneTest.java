package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Connection;
import io.nats.client.Nats;
import io.nats.client.api.StreamState;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway that hears its engines through relays and a stream knows what one knows that reads them
 * itself, whatever was killed in between: server, relays and the gateway are processes of their
 * own. {@code -Dtest.kills=N} kills more often.
 */
@Timeout(600)
@Tag("slow")
class NatsPlaneTest {
    private static final int ROUNDS = Math.max(1, Integer.getInteger("test.kills", 2) / 2);
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String STREAM = new NatsNames("warmpath", "backend").stream();

    /** Batches that an engine can say again: some more than come while a relay is down. */
    private static final int BUFFER = 40;

    private static final int THRESHOLD = 25;
    private static final List<String> OFTEN =
            List.of(
                    "warmpath.state.shared.threshold=" + THRESHOLD,
                    "warmpath.state.shared.lease=1s");

    private static final Pattern WROTE =
            Pattern.compile("Wrote the shared snapshot (\\S+): .* covers the stream up to (\\d+),");

    private final ChildJvm[] relays = new ChildJvm[2];
    private final List<ChildJvm> gateways = new ArrayList<>();
    private @TempDir Path folder;
    private NatsServer server;
    private TwinGateway twin;

    @BeforeEach
    void engines() throws Exception {
        server = NatsServer.start(folder.resolve("nats"));
        twin = TwinGateway.start(BUFFER);
        startRelay(0);
        startRelay(1);
    }

    @AfterEach
    void stop() throws Exception {
        gateways.forEach(ChildJvm::kill);
        for (ChildJvm relay : relays) {
            if (relay != null) {
                relay.kill();
            }
        }
        if (twin != null) {
            twin.close();
        }
        if (server != null) {
            server.close();
        }
    }

    private void startRelay(int i) throws IOException {
        relays[i] = twin.relay(folder.resolve("relay" + i), i, server.url());
    }

    private ChildJvm startGateway(String id, List<String> more) throws IOException {
        List<String> settings =
                new ArrayList<>(
                        List.of(
                                "warmpath.events.plane=nats",
                                "warmpath.nats.servers=" + server.url(),
                                "warmpath.nats.router-id=" + id));
        settings.addAll(more);
        ChildJvm started = twin.other(folder.resolve("gateway-" + id), settings);
        gateways.add(started);
        return started;
    }

    private static Random seeded() {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        System.out.println("NatsPlaneTest -Dwarmpath.test.seed=" + seed);
        return new Random(seed);
    }

    private void same(ChildJvm gateway, String when) throws Exception {
        twin.same(TwinGateway.url(gateway), when);
    }

    @Test
    void whatever_is_killed_a_gateway_on_the_stream_knows_what_one_on_the_engines_knows()
            throws Exception {
        Random random = seeded();
        ChildJvm gateway = startGateway("child", List.of());
        twin.compute(random, 100);
        same(gateway, "at first");
        for (int round = 0; round < ROUNDS; round++) {
            server.kill();
            twin.compute(random, 60);
            server.restart();
            twin.compute(random, 10);
            same(gateway, "after the server was killed");

            int one = random.nextInt(2);
            relays[one].kill();
            twin.compute(random, 15);
            startRelay(one);
            twin.compute(random, 10);
            same(gateway, "after a relay was killed");

            gateway.kill();
            twin.compute(random, 60); // more than engines could say again
            gateway = startGateway("child", List.of());
            twin.compute(random, 10);
            same(gateway, "after the gateway was killed");
        }
    }

    @Test
    void a_killed_gateway_takes_up_a_shared_snapshot_and_the_rest_of_a_purged_stream()
            throws Exception {
        Random random = seeded();
        ChildJvm gateway = startGateway("child", OFTEN);
        // More has gone from the stream than engines could say again.
        await().atMost(SOON)
                .until(
                        () -> {
                            twin.compute(random, 20);
                            return stream().getFirstSequence() > BUFFER;
                        });
        same(gateway, "with a purged stream");
        for (int kill = 0; kill < 2 * ROUNDS; kill++) {
            twin.compute(random, random.nextInt(30));
            Thread killer = Thread.ofVirtual().start(gateway::kill);
            twin.compute(random, 20);
            killer.join();
            twin.compute(random, 30);
            gateway = startGateway("child", OFTEN);
            assertTrue(gateway.log().contains("Took up the shared snapshot"), gateway::log);
            same(gateway, "after kill " + kill);
        }
    }

    /**
     * Both stand still while the threshold is passed, and go on in the same instant: each finds its
     * look at the stream overdue and a snapshot due.
     */
    @Tag("long")
    @Test
    void two_gateways_that_cross_the_threshold_at_once_write_each_stretch_once() throws Exception {
        Random random = seeded();
        List<ChildJvm> both = List.of(startGateway("one", OFTEN), startGateway("two", OFTEN));
        twin.compute(random, 40);
        for (int wave = 0; wave < 2 * ROUNDS; wave++) {
            await().atMost(SOON).until(() -> covers(both) > stream().getLastSequence() - THRESHOLD);
            long covered = covers(both);
            both.forEach(g -> g.signal("STOP"));
            try {
                await().atMost(SOON)
                        .until(
                                () -> {
                                    twin.compute(random, 20);
                                    return stream().getLastSequence() >= covered + THRESHOLD;
                                });
            } finally {
                both.forEach(g -> g.signal("CONT"));
            }
            for (ChildJvm g : both) {
                same(g, "after wave " + wave);
            }
        }
        await().atMost(SOON).until(() -> covers(both) > stream().getLastSequence() - THRESHOLD);
        List<Long> positions = written(both);
        assertEquals(positions.size(), new HashSet<>(positions).size(), positions::toString);
        assertTrue(positions.size() <= stream().getLastSequence() / THRESHOLD, positions::toString);
        both.forEach(ChildJvm::kill);
        twin.compute(random, 10);
        ChildJvm third = startGateway("three", OFTEN);
        assertTrue(third.log().contains("Took up the shared snapshot"), third::log);
        same(third, "from their newest snapshot");
    }

    private StreamState stream() throws Exception {
        Connection nats = Nats.connect(server.url());
        try {
            return nats.jetStreamManagement().getStreamInfo(STREAM).getStreamState();
        } finally {
            nats.close();
        }
    }

    /** The newest number of the stream that a snapshot covers. */
    private static long covers(List<ChildJvm> gateways) {
        return written(gateways).stream().mapToLong(n -> n).max().orElse(0);
    }

    /** Of each snapshot the number up to which it covers the stream. */
    private static List<Long> written(List<ChildJvm> gateways) {
        return gateways.stream()
                .flatMap(g -> WROTE.matcher(g.log()).results())
                .map((MatchResult m) -> Long.valueOf(m.group(2)))
                .toList();
    }
}
