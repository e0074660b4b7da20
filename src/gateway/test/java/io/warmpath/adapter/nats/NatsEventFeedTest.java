package io.warmpath.adapter.nats;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.JetStreamManagement;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.StreamConfiguration;
import io.warmpath.events.BatchDecoder;
import io.warmpath.events.BatchSink;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed.Subscription;
import io.warmpath.events.EventSource;
import io.warmpath.events.KvBatch;
import io.warmpath.events.KvEvent;
import io.warmpath.events.MalformedBatchException;
import io.warmpath.events.SourceMark;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Relay, server and feed together; the server is a process of its own. Batch i stores block i of
 * one prompt, so the depth of that prompt is the proof: a batch that is missing, doubled in place
 * of another or out of order cuts it.
 */
@Timeout(60)
@Tag("slow")
class NatsEventFeedTest {
    private static final int SIZE = 4;
    private static final NatsNames NAMES = new NatsNames("test", "backend");
    private static final Relay.Options RING = new Relay.Options(1 << 20, Duration.ofHours(1));
    private static final int CLEAR = -1;

    @TempDir Path folder;
    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot slot = index.open(0);
    private final EventSource source = source(7, slot);
    private final EventCounters counters = new EventCounters();
    private NatsServer server;
    private NatsLink link;

    @BeforeEach
    void startServer() throws Exception {
        server = NatsServer.start(folder.resolve("store"), "max_payload: 16KB");
        link = NatsLink.open(server.options(), "test");
        await().until(link::connected);
    }

    @AfterEach
    void close() {
        if (link != null) {
            link.close();
            server.close();
        }
        index.close();
    }

    @Test
    void events_reach_the_index() {
        try (Relay relay = relay(link, RING);
                NatsEventFeed feed = feed(0, decoder())) {
            Subscription sub = feed.subscribe(source);
            publish(relay.sink(source), 0, 50);
            eventually().until(() -> depth() == 50 && sub.state() == EventView.EXACT);
            assertEquals(49, sub.status().sequence());
            eventually().until(() -> feed.streamPosition() == relay.messages());
            assertEquals(50, relay.batches());
        }
    }

    @Test
    void what_others_may_purge_follows_what_was_applied() throws Exception {
        Semaphore may = new Semaphore(5);
        BatchDecoder held =
                payload -> {
                    may.acquireUninterruptibly();
                    return decoder().decode(payload);
                };
        try (Relay relay = relay(link, RING);
                NatsEventFeed feed = feed(0, held)) {
            feed.subscribe(source);
            for (int i = 0; i < 10; i++) {
                int n = i + 1;
                publish(relay.sink(source), i, n);
                eventually().until(() -> relay.messages() == n);
            }
            eventually().until(() -> depth() == 5);
            assertTrue(acknowledged() <= 5, "acknowledged: " + acknowledged());
            may.release(1_000);
            eventually().until(() -> acknowledged() == 10);
            assertEquals(10, depth());
        }
    }

    private long acknowledged() throws Exception {
        return link.connection()
                .orElseThrow()
                .jetStreamManagement()
                .getConsumerInfo(NAMES.stream(), NatsNames.consumer("gateway"))
                .getAckFloor()
                .getStreamSequence();
    }

    @Test
    void a_worker_that_comes_later_gets_what_went_by_and_nothing_twice() {
        try (Relay relay = relay(link, RING);
                NatsEventFeed feed = feed(0, decoder())) {
            EventSource other = source(8, index.open(1));
            Subscription first = feed.subscribe(other);
            publish(relay.sink(source), 0, 30);
            publish(relay.sink(other), 0, 30);
            eventually().until(() -> depth(other.ownSlot()) == 30);
            Subscription late = feed.subscribe(source);
            publish(relay.sink(source), 30, 60);
            eventually().until(() -> depth() == 60 && late.state() == EventView.EXACT);
            assertEquals(60, late.status().batches());
            assertEquals(0, late.status().duplicates());
            assertEquals(EventView.EXACT, first.state());
        }
    }

    @Test
    void a_killed_server_that_comes_back_with_its_store_loses_nothing() throws Exception {
        try (Relay relay = relay(link, RING);
                NatsEventFeed feed = feed(0, decoder())) {
            Subscription sub = feed.subscribe(source);
            BatchSink engine = relay.sink(source);
            publish(engine, 0, 20);
            eventually().until(() -> depth() == 20);
            server.kill();
            publish(engine, 20, 120);
            eventually().until(() -> sub.state() == EventView.LAGGING);
            assertEquals(20, depth());
            server.restart();
            publish(engine, 120, 150);
            eventually().until(() -> depth() == 150 && sub.state() == EventView.EXACT);
            assertEquals(0, sub.status().lost());
        }
    }

    @Test
    void what_a_killed_server_has_acknowledged_and_lost_is_stored_again() throws Exception {
        try (Relay relay = relay(link, RING)) {
            BatchSink engine = relay.sink(source);
            for (int i = 0; i < 20; i++) {
                int n = i + 1;
                publish(engine, i, n);
                eventually().until(() -> relay.messages() == n);
            }
            server.kill();
            loseTail(500); // two messages, and a part of the one before
            publish(engine, 20, 25);
            server.restart();
            publish(engine, 25, 30);
            eventually().until(() -> relay.batches() == 30);
            long stored =
                    link.connection()
                            .orElseThrow()
                            .jetStreamManagement()
                            .getStreamInfo(NAMES.stream())
                            .getStreamState()
                            .getMsgCount();
            assertTrue(stored <= 30, "stored twice: " + stored);
        }
        // Nobody is left to ask.
        try (NatsEventFeed feed = feed(0, decoder())) {
            Subscription sub = feed.subscribe(source);
            eventually().until(() -> depth() == 30);
            assertEquals(0, sub.status().lost());
        }
    }

    @Test
    void a_server_away_for_longer_than_the_ring_leaves_a_gap_that_is_told() throws Exception {
        Relay.Options small = new Relay.Options(100 * 200, Duration.ofHours(1));
        try (Relay relay = relay(link, small);
                NatsEventFeed feed = feed(0, decoder())) {
            Subscription sub = feed.subscribe(source);
            BatchSink engine = relay.sink(source);
            publish(engine, 0, 20);
            eventually().until(() -> depth() == 20);
            server.kill();
            await().until(() -> !link.connected());
            publish(engine, 20, 1_000);
            assertTrue(relay.overflowed() > 0);
            server.restart();
            eventually().until(() -> sub.state() == EventView.GAP);
            eventually().until(() -> sub.status().sequence() == 999);
            assertEquals(0, depth(), "what a removal may have been lost of is not believed");
            assertEquals(1, sub.status().lost());
            // The engine clears its cache: then all is known again.
            engine.take(1_000, batch(CLEAR, 0));
            engine.take(1_001, batch(0, 0));
            eventually().until(() -> depth() == 1 && sub.state() == EventView.EXACT);
        }
    }

    @Test
    void a_full_store_loses_nothing_and_is_told() throws Exception {
        JetStreamManagement streams = link.connection().orElseThrow().jetStreamManagement();
        StreamConfiguration full =
                StreamConfiguration.builder()
                        .name(NAMES.stream())
                        .subjects(NAMES.streamSubjects())
                        .maxMessages(3)
                        .discardPolicy(DiscardPolicy.New)
                        .build();
        streams.addStream(full);
        try (Relay relay = relay(link, RING);
                NatsEventFeed feed = feed(0, decoder())) {
            Subscription sub = feed.subscribe(source);
            for (int i = 0; i < 10; i++) {
                int n = i;
                publish(relay.sink(source), n, n + 1);
                // One message each.
                eventually().until(() -> relay.waiting() == 0);
            }
            eventually().until(() -> relay.failures() > 0 && sub.state() == EventView.LAGGING);
            assertEquals(3, depth());
            streams.updateStream(StreamConfiguration.builder(full).maxMessages(-1).build());
            eventually().until(() -> depth() == 10 && sub.state() == EventView.EXACT);
        }
    }

    @Test
    void a_batch_larger_than_a_message_may_be_comes_whole() {
        try (Relay relay = relay(link, RING);
                NatsEventFeed feed = feed(0, decoder())) {
            Subscription sub = feed.subscribe(source);
            BatchSink engine = relay.sink(source);
            publish(engine, 0, 3);
            take(engine, 3, batch(3, 100_000));
            publish(engine, 4, 6);
            eventually().until(() -> depth() == 6 && sub.state() == EventView.EXACT);
            assertEquals(0, sub.status().rejected());
        }
    }

    @Test
    void a_relay_that_was_killed_goes_on_from_the_stream() throws Exception {
        try (NatsEventFeed feed = feed(0, decoder())) {
            Subscription sub = feed.subscribe(source);
            try (NatsLink doomed = NatsLink.open(server.options(), "doomed");
                    Relay killed = relay(doomed, RING)) {
                await().until(doomed::connected);
                assertNull(killed.resume(source), "nothing has been said yet");
                publish(killed.sink(source), 0, 40);
                eventually().until(() -> depth() == 40);
                cut(doomed);
                // The engine goes on; nobody passes it on.
                publish(killed.sink(source), 40, 50);
            }
            eventually().until(() -> sub.state() == EventView.GONE);
            try (Relay next = relay(link, RING)) {
                SourceMark from = next.resume(source);
                assertNotNull(from);
                assertEquals(40, from.next());
                assertEquals(SourceMark.fingerprint(batch(39, 0)), from.fingerprint());
                publish(next.sink(source), 40, 70);
                eventually().until(() -> depth() == 70 && sub.state() == EventView.EXACT);
                assertEquals(0, sub.status().lost() + sub.status().restarts());
            }
        }
    }

    @Test
    void another_process_of_the_engine_replaces_what_the_old_one_held() {
        try (Relay relay = relay(link, RING);
                NatsEventFeed feed = feed(0, decoder())) {
            Subscription sub = feed.subscribe(source);
            BatchSink engine = relay.sink(source);
            publish(engine, 0, 40);
            eventually().until(() -> depth() == 40);
            engine.forget(true);
            publish(engine, 0, 5);
            eventually().until(() -> depth() == 5 && sub.state() == EventView.EXACT);
            assertEquals(1, sub.status().restarts());
        }
    }

    @Test
    void of_two_relays_for_one_engine_the_newer_counts_and_nothing_flaps() {
        try (Relay older = relay(link, RING);
                Relay newer = relay(link, RING);
                NatsEventFeed feed = feed(0, decoder())) {
            Subscription sub = feed.subscribe(source);
            publish(older.sink(source), 0, 10);
            eventually().until(() -> depth() == 10);
            publish(newer.sink(source), 0, 12);
            eventually().until(() -> depth() == 12);
            for (int i = 12; i < 20; i++) {
                publish(older.sink(source), i - 2, i - 1);
                publish(newer.sink(source), i, i + 1);
            }
            eventually().until(() -> depth() == 20 && older.batches() == 18);
            assertEquals(1, sub.status().restarts());
        }
    }

    @Test
    void a_slow_reader_leaves_the_rest_in_the_stream_and_takes_it_in_order() {
        Semaphore may = new Semaphore(0);
        BatchDecoder slow =
                payload -> {
                    may.acquireUninterruptibly();
                    return decoder().decode(payload);
                };
        try (Relay relay = relay(link, RING);
                NatsEventFeed feed = feed(0, slow)) {
            Subscription sub = feed.subscribe(source);
            publish(relay.sink(source), 0, 500);
            eventually().until(() -> relay.batches() == 500);
            may.release(1_000);
            eventually().until(() -> depth() == 500 && sub.state() == EventView.EXACT);
            assertEquals(0, sub.status().gaps());
        }
    }

    @Test
    void a_gateway_goes_on_where_its_snapshot_ends() throws Exception {
        try (Relay relay = relay(link, RING)) {
            BatchSink engine = relay.sink(source);
            NatsEventFeed.Marks marks;
            try (NatsEventFeed feed = feed(0, decoder())) {
                feed.subscribe(source);
                publish(engine, 0, 40);
                eventually().until(() -> depth() == 40 && feed.streamPosition() > 0);
                marks = feed.marksAt();
            }
            long applied = counters.batches();
            publish(engine, 40, 60);
            eventually().until(() -> relay.batches() == 60);
            try (NatsEventFeed feed = feed(marks.position(), decoder())) {
                Subscription sub =
                        feed.subscribe(source, (s, before, now) -> {}, marks.marks().getFirst());
                eventually().until(() -> depth() == 60 && sub.state() == EventView.EXACT);
                assertEquals(20, counters.batches() - applied, "only what is new is read");
            }
        }
    }

    @Test
    void a_snapshot_of_a_silent_engine_is_confirmed_by_its_relay() throws Exception {
        try (Relay relay = relay(link, RING)) {
            NatsEventFeed.Marks marks;
            try (NatsEventFeed feed = feed(0, decoder())) {
                feed.subscribe(source);
                publish(relay.sink(source), 0, 10);
                eventually().until(() -> depth() == 10 && feed.streamPosition() > 0);
                marks = feed.marksAt();
            }
            try (NatsEventFeed feed = feed(marks.position(), decoder())) {
                Subscription sub =
                        feed.subscribe(source, (s, before, now) -> {}, marks.marks().getFirst());
                eventually().until(() -> sub.state() == EventView.EXACT);
                assertEquals(10, depth());
            }
        }
    }

    @Test
    void what_was_purged_before_it_was_read_is_asked_of_the_relay() throws Exception {
        try (Relay relay = relay(link, RING)) {
            BatchSink engine = relay.sink(source);
            NatsEventFeed.Marks marks;
            try (NatsEventFeed feed = feed(0, decoder())) {
                feed.subscribe(source);
                publish(engine, 0, 10);
                eventually().until(() -> depth() == 10 && feed.streamPosition() > 0);
                marks = feed.marksAt();
            }
            publish(engine, 10, 20);
            eventually().until(() -> relay.batches() == 20);
            link.connection().orElseThrow().jetStreamManagement().purgeStream(NAMES.stream());
            publish(engine, 20, 30);
            eventually().until(() -> relay.batches() == 30);
            try (NatsEventFeed feed = feed(marks.position(), decoder())) {
                Subscription sub =
                        feed.subscribe(source, (s, before, now) -> {}, marks.marks().getFirst());
                eventually().until(() -> depth() == 30 && sub.state() == EventView.EXACT);
                assertEquals(1, sub.status().repaired());
                assertEquals(0, sub.status().lost());
            }
        }
    }

    /** As if it had been killed before it wrote the last of what it has acknowledged. */
    private void loseTail(int bytes) throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("store"))) {
            List<Path> blocks = files.filter(f -> f.toString().endsWith(".blk")).toList();
            assertEquals(1, blocks.size());
            try (FileChannel channel =
                    FileChannel.open(blocks.getFirst(), StandardOpenOption.WRITE)) {
                channel.truncate(channel.size() - bytes);
            }
        }
    }

    /** In the middle of its life, whatever it holds. */
    private static void cut(NatsLink link) {
        link.close();
    }

    private NatsEventFeed feed(long start, BatchDecoder decoder) {
        return new NatsEventFeed(
                link,
                NAMES,
                index,
                decoder,
                counters,
                new NatsEventFeed.Settings(
                        "gateway",
                        Duration.ofHours(1),
                        Duration.ofSeconds(1),
                        Duration.ofHours(1),
                        Duration.ofHours(1),
                        Duration.ofSeconds(3)),
                start,
                System::nanoTime);
    }

    private static Relay relay(NatsLink link, Relay.Options options) {
        return new Relay(
                link,
                NAMES,
                options,
                System::nanoTime,
                System::currentTimeMillis,
                () -> ThreadLocalRandom.current().nextLong(),
                s -> true);
    }

    private static EventSource source(long id, WorkerSlot slot) {
        return new EventSource("w" + id, 0, List.of(slot), "stream", false, null, "", SIZE, id);
    }

    private static void publish(BatchSink engine, int from, int until) {
        for (int i = from; i < until; i++) {
            take(engine, i, batch(i, 0));
        }
    }

    private static void take(BatchSink engine, long sequence, byte[] batch) {
        try {
            engine.take(sequence, batch);
        } catch (MalformedBatchException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * @param more bytes that mean nothing
     */
    private static byte[] batch(int block, int more) {
        return ByteBuffer.allocate(Integer.BYTES + more).putInt(block).array();
    }

    private static BatchDecoder decoder() {
        return payload -> {
            int block = ByteBuffer.wrap(payload).getInt();
            return new KvBatch(1, 0, List.of(block == CLEAR ? cleared() : stored(block)), 0, 0);
        };
    }

    private static KvEvent cleared() {
        return new KvEvent.Cleared();
    }

    private static KvEvent stored(int block) {
        int[] tokens = new int[SIZE];
        for (int i = 0; i < SIZE; i++) {
            tokens[i] = block * SIZE + i;
        }
        return new KvEvent.Stored(
                new long[] {block + 100},
                block > 0,
                block + 99,
                tokens,
                false,
                SIZE,
                "GPU",
                null,
                false,
                null,
                1,
                null,
                KvEvent.Scope.NONE);
    }

    private int depth() {
        return depth(slot);
    }

    private int depth(@Nullable WorkerSlot of) {
        int[] prompt = new int[1_100 * SIZE];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i;
        }
        return index.match(new PrefixQuery(prompt, prompt.length, SIZE, PrefixSpace.NONE))
                .depth(of, Tier.GPU);
    }

    private static ConditionFactory eventually() {
        return await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
    }
}
