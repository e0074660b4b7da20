package io.warmpath.adapter.nats;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamManagement;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.PullSubscribeOptions;
import io.nats.client.PurgeOptions;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.support.NatsObjectStoreUtil;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shared snapshots over a real nats-server: gateways that meet, die, and find damage. */
@Tag("slow")
class NatsSnapshotsTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String STREAM = SnapshotGateway.NAMES.stream();

    @TempDir Path folder;
    private NatsServer server;
    private SnapshotGateway a;
    private SnapshotGateway b;

    @BeforeEach
    void start() throws Exception {
        server = NatsServer.start(folder.resolve("store"));
        a = new SnapshotGateway("a", server.options(), folder);
        b = new SnapshotGateway("b", server.options(), folder);
    }

    @AfterEach
    void stop() {
        Stream.of(a, b).filter(g -> g != null).forEach(SnapshotGateway::close);
        if (server != null) {
            server.close();
        }
    }

    private Connection connection() {
        return a.link.connection().orElseThrow();
    }

    private JetStreamManagement stream() throws Exception {
        JetStreamManagement jsm = connection().jetStreamManagement();
        jsm.addStream(
                StreamConfiguration.builder()
                        .name(STREAM)
                        .subjects(SnapshotGateway.NAMES.streamSubjects())
                        .build());
        return jsm;
    }

    private void say(int messages) throws Exception {
        JetStream js = connection().jetStream();
        for (int i = 0; i < messages; i++) {
            js.publish(SnapshotGateway.NAMES.events(7, 0), new byte[10]);
        }
    }

    /** A durable consumer that has acknowledged so many. */
    private void follow(String gateway, int acknowledged) throws Exception {
        JetStreamSubscription s =
                connection()
                        .jetStream()
                        .subscribe(
                                SnapshotGateway.NAMES.streamSubjects(),
                                PullSubscribeOptions.builder().stream(STREAM)
                                        .configuration(
                                                ConsumerConfiguration.builder()
                                                        .durable(NatsNames.consumer(gateway))
                                                        .ackPolicy(AckPolicy.All)
                                                        .build())
                                        .build());
        if (acknowledged > 0) {
            List<Message> got = s.fetch(acknowledged, SOON);
            assertEquals(acknowledged, got.size());
            got.get(acknowledged - 1).ackSync(SOON);
        }
    }

    private long first() throws Exception {
        return connection()
                .jetStreamManagement()
                .getStreamInfo(STREAM)
                .getStreamState()
                .getFirstSequence();
    }

    @Test
    void two_that_cross_the_threshold_at_once_write_one_snapshot() throws Exception {
        assertFalse(a.keeper.tick(), "no stream yet");
        stream();
        say(120);
        a.index.content = 118;
        b.index.content = 120;
        follow("a", 118);
        follow("b", 120);
        try (ExecutorService both = Executors.newFixedThreadPool(2)) {
            Callable<Integer> ofA = () -> ticks(a);
            Callable<Integer> ofB = () -> ticks(b);
            int written = 0;
            for (Future<Integer> f : both.invokeAll(List.of(ofA, ofB))) {
                written += f.get();
            }
            assertEquals(1, written);
        }
        assertEquals(1, a.snapshots.catalog().items().size());
        assertEquals(1, first(), "the only snapshot may be damaged yet");
        assertEquals(4, a.files.names().size());
        assertEquals(Map.of("a", "a test", "b", "a test"), a.presence.present());
        long newest = a.snapshots.catalog().covered();
        assertEquals(newest, b.load());
    }

    private static int ticks(SnapshotGateway g) throws Exception {
        int written = 0;
        for (int i = 0; i < 5; i++) {
            written += g.keeper.tick() ? 1 : 0;
        }
        return written;
    }

    @Test
    void only_what_both_snapshots_cover_and_all_living_have_applied_is_purged() throws Exception {
        stream();
        say(100);
        follow("b", 40);
        follow("dead", 5);
        a.index.content = 100;
        assertTrue(a.keeper.tick());
        say(100);
        a.index.content = 200;
        b.keeper.tick();
        assertTrue(a.keeper.tick());
        assertTrue(first() <= 6, "the dead one is not known to be dead yet");
        // Its consumer is an orphan after a while; the living slow one holds the rest up.
        await().atMost(SOON)
                .untilAsserted(
                        () -> {
                            b.keeper.tick();
                            a.keeper.tick();
                            assertEquals(41, first());
                        });
        List<String> told = Stream.concat(a.told.stream(), b.told.stream()).toList();
        assertTrue(told.contains("removed dead"), told.toString());
        assertEquals(
                List.of(NatsNames.consumer("b")),
                connection().jetStreamManagement().getConsumerNames(STREAM));
        follow("b", 160);
        a.keeper.tick();
        assertEquals(101, first(), "what the older snapshot does not cover stays");
        // Notes on deleted files would pile up.
        for (int i = 3; i <= 5; i++) {
            say(100);
            a.index.content = i * 100L;
            assertTrue(a.keeper.tick());
        }
        assertEquals(8, a.files.names().size());
        assertEquals(
                16,
                connection()
                        .jetStreamManagement()
                        .getStreamInfo(
                                NatsObjectStoreUtil.toStreamName(
                                        SnapshotGateway.NAMES.snapshotBucket()))
                        .getStreamState()
                        .getMsgCount(),
                "a description and one piece each");
    }

    @Test
    void a_writer_killed_in_the_middle_of_an_upload_is_followed_by_another() throws Exception {
        stream();
        say(150);
        Process child =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                System.getProperty("java.class.path"),
                                SnapshotGateway.class.getName(),
                                server.url(),
                                folder.toString(),
                                "150")
                        .redirectError(folder.resolve("log").toFile())
                        .start();
        try {
            String line = child.inputReader().readLine();
            while (line != null && !line.equals("in the middle")) {
                line = child.inputReader().readLine();
            }
            assertEquals("in the middle", line, () -> text(folder.resolve("log")));
        } finally {
            child.destroyForcibly().waitFor();
        }
        assertEquals(2, a.files.names().size(), "half of it is there");
        assertEquals(0, b.load(), "and is not used");
        a.index.content = 149;
        assertFalse(a.keeper.tick(), "its lock has not run out");
        await().atMost(SOON).until(a.keeper::tick);
        assertEquals(149, b.load());
        assertEquals(4, a.files.names().size(), "and is cleaned away");
        assertEquals(List.of(), b.refused);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Test
    void a_changed_or_cut_snapshot_is_named_and_the_one_before_it_used() throws Exception {
        stream();
        for (int i = 1; i <= 2; i++) {
            say(100);
            a.index.content = 100L * i;
            assertTrue(a.keeper.tick());
        }
        String newest =
                NatsNames.SNAPSHOT + "/" + a.snapshots.catalog().items().get(0).name() + "/2";
        byte[] whole = a.files.get(newest).orElseThrow();
        byte[] flipped = whole.clone();
        flipped[5] = (byte) (flipped[5] ^ 1);
        a.files.put(newest, flipped);
        assertEquals(100, b.load());
        assertTrue(
                b.refused.get(0).contains("chunk 2 of 3 has a wrong checksum"),
                b.refused::toString);
        a.files.put(newest, whole);
        assertEquals(200, b.load());
        // The pieces of one file are gone from the server's store.
        connection()
                .jetStreamManagement()
                .purgeStream(
                        NatsObjectStoreUtil.toStreamName(SnapshotGateway.NAMES.snapshotBucket()),
                        PurgeOptions.subject(
                                NatsObjectStoreUtil.toChunkPrefix(
                                                SnapshotGateway.NAMES.snapshotBucket())
                                        + nuid(newest)));
        assertEquals(100, b.load());
        assertTrue(b.refused.get(1).contains("damaged"), b.refused::toString);
    }

    private String nuid(String file) throws Exception {
        return connection()
                .objectStore(SnapshotGateway.NAMES.snapshotBucket())
                .getInfo(file)
                .getNuid();
    }

    @Test
    void a_bit_that_flipped_on_the_servers_disk_costs_one_snapshot() throws Exception {
        stream();
        for (int i = 1; i <= 2; i++) {
            say(100);
            // Its file is full of this byte.
            a.index.content = i == 1 ? 0x11 : 0x77;
            assertTrue(a.keeper.tick());
        }
        server.kill();
        Path blocks = folder.resolve("store").resolve("jetstream");
        int hits = 0;
        try (Stream<Path> all = Files.walk(blocks)) {
            for (Path f : all.filter(p -> p.toString().endsWith(".blk")).toList()) {
                String bytes = Files.readString(f, StandardCharsets.ISO_8859_1);
                int at = bytes.lastIndexOf("w".repeat(40));
                if (at >= 0 && f.toString().contains("OBJ_")) {
                    try (RandomAccessFile file = new RandomAccessFile(f.toFile(), "rw")) {
                        file.seek(at);
                        file.write('v');
                    }
                    hits++;
                }
            }
        }
        assertEquals(1, hits, "the piece was found");
        server.restart();
        await().atMost(SOON).until(() -> b.link.connected());
        assertEquals(0x11, b.load(), b.refused::toString);
        assertEquals(1, b.refused.size());
    }

    @Test
    void a_reset_empties_both_and_names_who_else_is_alive() throws Exception {
        stream();
        say(100);
        a.index.content = 100;
        assertTrue(a.keeper.tick());
        assertEquals(
                Map.of("a", "a test"),
                b.keeper.reset(() -> {}, 0),
                "b has not said that it is there");
        assertEquals(0, b.load());
        assertEquals(List.of(), a.files.names());
        assertEquals(101, first());
        assertFalse(a.keeper.tick());
        // The numbers go on: nothing is taken for what was there before.
        say(100);
        a.index.content = 200;
        assertTrue(a.keeper.tick());
        assertEquals(200, b.load());
        b.keeper.close();
        a.keeper.close();
        assertEquals(Map.of(), a.presence.present());
    }

    @Test
    void without_a_server_every_call_says_so_and_later_all_goes_on() throws Exception {
        stream();
        say(100);
        a.index.content = 100;
        server.kill();
        await().atMost(SOON).until(() -> !a.link.connected());
        IOException e = assertThrows(IOException.class, a.keeper::tick);
        assertTrue(e.getMessage().contains("alive"), e.getMessage());
        server.restart();
        await().atMost(SOON).until(() -> a.link.connected() && b.link.connected());
        assertTrue(a.keeper.tick());
        assertEquals(100, b.load());
    }
}
