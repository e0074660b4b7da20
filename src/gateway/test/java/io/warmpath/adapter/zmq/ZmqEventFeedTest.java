package io.warmpath.adapter.zmq;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.zmq.FakePublisher.ReplayShape;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed.Subscription;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceStatus;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The feed against a publisher on real sockets. The depth of the prompt 0,1,2,... is the proof. */
@Timeout(60)
class ZmqEventFeedTest {
    private static final int SIZE = 4;
    private static final ZmqEventFeed.Settings FAST =
            new ZmqEventFeed.Settings(
                    Duration.ofSeconds(2),
                    Duration.ofMillis(300),
                    Duration.ofHours(1),
                    Duration.ofHours(1),
                    Duration.ofMillis(20),
                    Duration.ofMillis(100));
    private static final ZmqEventFeed.Settings NO_AUDIT =
            new ZmqEventFeed.Settings(
                    Duration.ofSeconds(2),
                    Duration.ofHours(1),
                    Duration.ofHours(1),
                    Duration.ofHours(1),
                    Duration.ofMillis(20),
                    Duration.ofMillis(100));

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot slot = index.open(0);
    private final EventCounters counters = new EventCounters();

    @AfterEach
    void closeIndex() {
        index.close();
    }

    /** A poller without sockets returns at once: the thread once took a whole core that way. */
    @Tag("measured")
    @Test
    void a_feed_without_sources_sleeps() {
        AtomicInteger looks = new AtomicInteger();
        LongSupplier clock =
                () -> {
                    looks.incrementAndGet();
                    return System.nanoTime();
                };
        try (ZmqEventFeed feed = new ZmqEventFeed(index, counters, NO_AUDIT, clock)) {
            assertEquals(counters, feed.counters());
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            Thread thread =
                    Thread.getAllStackTraces().keySet().stream()
                            .filter(t -> t.getName().equals("warmpath-kv-events") && t.isAlive())
                            .findFirst()
                            .orElseThrow();
            long cpu = threads.getThreadCpuTime(thread.threadId());
            assertEquals(List.of(), feed.marks());
            int before = looks.get();
            long begin = System.nanoTime();
            Duration watched = Duration.ofMillis(600);
            await().until(() -> System.nanoTime() - begin > watched.toNanos());
            long used = threads.getThreadCpuTime(thread.threadId()) - cpu;
            assertTrue(used < watched.toNanos() / 8, "CPU ns used while idle: " + used);
            // The call above may still have to be seen off.
            assertTrue(looks.get() - before <= 2, () -> looks + " looks at the clock, " + before);
        }
    }

    @ParameterizedTest
    @EnumSource
    void history_from_before_the_subscription_is_replayed(ReplayShape shape) throws Exception {
        try (FakePublisher engine = FakePublisher.bound(shape);
                ZmqEventFeed feed = feed(NO_AUDIT)) {
            for (int i = 0; i < 5; i++) {
                engine.publish(i, FakePublisher.stored(1, i, SIZE));
            }
            Subscription sub = feed.subscribe(source(engine, true));
            eventually().until(() -> depth() == 5 && sub.state() == EventView.EXACT);
        }
    }

    @ParameterizedTest
    @EnumSource
    void lost_messages_are_fetched_and_applied_in_order(ReplayShape shape) throws Exception {
        try (FakePublisher engine = FakePublisher.bound(shape);
                ZmqEventFeed feed = feed(NO_AUDIT)) {
            Subscription sub = feed.subscribe(source(engine, true));
            joined(engine);
            engine.lose(1, FakePublisher.stored(1, 1, SIZE));
            engine.lose(2, FakePublisher.stored(1, 2, SIZE));
            engine.publish(3, FakePublisher.stored(1, 3, SIZE));
            engine.publish(4, FakePublisher.stored(1, 4, SIZE));
            eventually().until(() -> depth() == 5 && sub.state() == EventView.EXACT);
            assertEquals(1, counters.gaps());
            assertEquals(0, counters.gapsLost());
            assertEquals(0, counters.orphans(), "a block was applied before its parent");
            assertEquals(5, counters.batches());
        }
    }

    @Test
    void a_gap_that_nobody_fills_forgets_the_rank() throws Exception {
        try (FakePublisher engine = FakePublisher.bound(ReplayShape.THREE);
                ZmqEventFeed feed = feed(NO_AUDIT)) {
            Subscription sub = feed.subscribe(source(engine, true));
            joined(engine);
            engine.keep(1);
            engine.lose(1, FakePublisher.stored(1, 1, SIZE));
            engine.publish(2, FakePublisher.stored(1, 2, SIZE));
            eventually().until(() -> counters.gapsLost() == 1 && counters.batches() == 2);
            assertEquals(0, depth());
            eventually().until(() -> sub.state() == EventView.GAP);
        }
    }

    @Test
    void a_message_lost_at_the_end_is_found_without_another_message() throws Exception {
        try (FakePublisher engine = FakePublisher.bound(ReplayShape.THREE);
                ZmqEventFeed feed = feed(FAST)) {
            feed.subscribe(source(engine, true));
            joined(engine);
            engine.lose(1, FakePublisher.stored(1, 1, SIZE));
            eventually().until(() -> depth() == 2);
        }
    }

    @Test
    void a_restarted_engine_starts_from_nothing() throws Exception {
        try (ZmqEventFeed feed = feed(NO_AUDIT)) {
            int port;
            int replayPort;
            Subscription sub;
            try (FakePublisher first = FakePublisher.bound(ReplayShape.THREE)) {
                port = first.port();
                replayPort = first.replayPort();
                sub = feed.subscribe(source(first, true));
                joined(first);
                for (int i = 1; i < 4; i++) {
                    first.publish(i, FakePublisher.stored(1, i, SIZE));
                }
                eventually().until(() -> depth() == 4);
            }
            try (FakePublisher second =
                    FakePublisher.boundTo(ReplayShape.THREE, port, replayPort)) {
                // Batches 0 and 1 may pass before the feed is back; the numbers still tell.
                second.publish(0, FakePublisher.stored(2, 0, SIZE));
                second.publish(1, FakePublisher.stored(2, 1, SIZE));
                // Its connection alone may have told of the restart already.
                for (int n = 0; n == 0 || counters.restarts() == 0; n++) {
                    second.publish(2 + n, FakePublisher.stored(2, 2, SIZE));
                    Thread.onSpinWait();
                    if (n > 1_000_000) {
                        throw new AssertionError("restart never noticed");
                    }
                }
                eventually().until(() -> depth() == 3 && sub.state() == EventView.EXACT);
            }
        }
    }

    /** No batch betrays it, and no audit is due: the end of the connection does. */
    @Test
    void a_lost_connection_is_told_and_what_was_missed_is_asked_for_on_return() throws Exception {
        try (ZmqEventFeed feed = feed(NO_AUDIT)) {
            int port;
            int replayPort;
            Subscription sub;
            try (FakePublisher first = FakePublisher.bound(ReplayShape.THREE)) {
                port = first.port();
                replayPort = first.replayPort();
                sub = feed.subscribe(source(first, true));
                joined(first);
                eventually().until(() -> depth() == 1 && sub.state() == EventView.EXACT);
            }
            eventually().until(() -> sub.state() == EventView.GONE);
            assertEquals(SourceStatus.Belief.NOTHING, sub.status().belief());
            try (FakePublisher same =
                    FakePublisher.boundTo(
                            ReplayShape.THREE,
                            port,
                            replayPort,
                            FakePublisher.stored(1, 0, SIZE),
                            FakePublisher.stored(1, 1, SIZE))) {
                eventually().until(() -> depth() == 2 && sub.state() == EventView.EXACT);
                assertTrue(same.requests() > 0, "found by asking");
                assertEquals(0, counters.restarts(), "the same batches: the same process");
            }
        }
    }

    /** The health check knows earlier than the longest pause between two tries. */
    @Test
    void an_engine_known_to_be_back_is_connected_to_at_once() throws Exception {
        ZmqEventFeed.Settings patient =
                new ZmqEventFeed.Settings(
                        Duration.ofSeconds(2),
                        Duration.ofHours(1),
                        Duration.ofHours(1),
                        Duration.ofHours(1),
                        Duration.ofHours(1),
                        Duration.ofHours(1));
        try (ZmqEventFeed feed = feed(patient)) {
            int port;
            int replayPort;
            Subscription sub;
            try (FakePublisher first = FakePublisher.bound(ReplayShape.THREE)) {
                port = first.port();
                replayPort = first.replayPort();
                sub = feed.subscribe(source(first, true));
                joined(first);
            }
            eventually().until(() -> sub.state() == EventView.GONE);
            feed.marks(); // the feed has looked at its connections once more
            try (FakePublisher same =
                    FakePublisher.boundTo(
                            ReplayShape.THREE,
                            port,
                            replayPort,
                            FakePublisher.stored(1, 0, SIZE),
                            FakePublisher.stored(1, 1, SIZE))) {
                sub.hurry();
                eventually().until(() -> depth() == 2 && sub.state() == EventView.EXACT);
                assertTrue(same.requests() > 0, "found by asking");
            }
        }
    }

    /** A network that loses, doubles and swaps: the index is that of all batches in order. */
    @Test
    void lost_doubled_and_swapped_messages_leave_no_trace() throws Exception {
        long seed = System.nanoTime();
        System.out.println("lost_doubled_and_swapped_messages seed " + seed);
        Random random = new Random(seed);
        try (FakePublisher engine = FakePublisher.bound(ReplayShape.THREE);
                ZmqEventFeed feed = feed(FAST)) {
            Subscription sub = feed.subscribe(source(engine, true));
            joined(engine);
            int last = 400;
            for (int i = 1; i <= last; i++) {
                byte[] payload = FakePublisher.stored(1, i, SIZE);
                switch (random.nextInt(10)) {
                    case 0 -> engine.lose(i, payload);
                    case 1 -> {
                        engine.publish(i, payload);
                        engine.again(i, payload);
                    }
                    case 2 -> {
                        engine.lose(i, payload);
                        byte[] next = FakePublisher.stored(1, ++i, SIZE);
                        engine.publish(i, next);
                        engine.again(i - 1, payload);
                    }
                    default -> engine.publish(i, payload);
                }
                last = Math.max(last, i);
            }
            int want = last + 1;
            eventually().until(() -> depth() == want && sub.state() == EventView.EXACT);
            assertEquals(0, counters.gapsLost());
            assertEquals(0, counters.restarts());
            assertEquals(0, counters.orphans());
        }
    }

    @Test
    void an_idle_engine_that_restarted_is_noticed() throws Exception {
        try (ZmqEventFeed feed = feed(FAST)) {
            int port;
            int replayPort;
            try (FakePublisher first = FakePublisher.bound(ReplayShape.TWO)) {
                port = first.port();
                replayPort = first.replayPort();
                feed.subscribe(source(first, true));
                joined(first);
                first.publish(1, FakePublisher.stored(1, 1, SIZE));
                // Only a publisher that has answered before can be suspected for an empty answer.
                eventually().until(() -> depth() == 2 && counters.replayedBatches() > 0);
            }
            try (FakePublisher second = FakePublisher.boundTo(ReplayShape.TWO, port, replayPort)) {
                eventually().until(() -> depth() == 0);
                assertTrue(second.requests() > 0, "found by asking");
            }
        }
    }

    @Test
    void an_engine_that_connects_to_us_is_heard() throws Exception {
        String endpoint = "tcp://127.0.0.1:" + freePort();
        try (ZmqEventFeed feed = feed(NO_AUDIT)) {
            feed.subscribe(
                    new EventSource("w", 0, List.of(slot), endpoint, true, null, "kv@", SIZE));
            try (FakePublisher engine = FakePublisher.connected(ReplayShape.THREE, endpoint)) {
                int[] n = {0};
                // Until the connection stands PUB drops: the block is published until it is there.
                eventually()
                        .until(
                                () -> {
                                    engine.publish(n[0]++, FakePublisher.stored(1, 0, SIZE));
                                    return depth() == 1;
                                });
            }
        }
    }

    @Test
    void a_port_that_is_taken_is_refused_with_its_name() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ZmqEventFeed feed = feed(NO_AUDIT)) {
            String endpoint = "tcp://127.0.0.1:" + taken.getLocalPort();
            IllegalArgumentException e =
                    assertThrows(
                            IllegalArgumentException.class,
                            () ->
                                    feed.subscribe(
                                            new EventSource(
                                                    "w7",
                                                    0,
                                                    List.of(slot),
                                                    endpoint,
                                                    true,
                                                    null,
                                                    "",
                                                    SIZE)));
            assertTrue(e.getMessage().contains("w7") && e.getMessage().contains(endpoint));
        }
    }

    @Test
    void a_host_name_that_does_not_resolve_yet_does_not_hurt_the_others() throws Exception {
        try (FakePublisher engine = FakePublisher.bound(ReplayShape.THREE);
                ZmqEventFeed feed = feed(NO_AUDIT)) {
            WorkerSlot other = index.open(0);
            Subscription lost =
                    feed.subscribe(
                            new EventSource(
                                    "ghost",
                                    0,
                                    List.of(other),
                                    "tcp://no-such-host.invalid:5557",
                                    false,
                                    "tcp://no-such-host.invalid:5558",
                                    "",
                                    SIZE));
            feed.subscribe(source(engine, true));
            joined(engine);
            assertFalse(lost.state() == EventView.EXACT);
            lost.close();
        }
    }

    @Test
    void a_malformed_endpoint_is_refused_with_its_name() {
        try (ZmqEventFeed feed = feed(NO_AUDIT)) {
            EventSource bad =
                    new EventSource("w7", 0, List.of(slot), "nonsense", false, null, "", SIZE);
            IllegalArgumentException e =
                    assertThrows(IllegalArgumentException.class, () -> feed.subscribe(bad));
            assertTrue(e.getMessage().contains("w7") && e.getMessage().contains("nonsense"));
        }
    }

    @Test
    void other_topics_are_not_heard() throws Exception {
        try (FakePublisher engine = FakePublisher.bound(ReplayShape.THREE);
                ZmqEventFeed feed = feed(NO_AUDIT)) {
            feed.subscribe(source(engine, true));
            joined(engine);
            engine.raw(
                    "load".getBytes(StandardCharsets.UTF_8),
                    FakePublisher.big(1),
                    FakePublisher.stored(1, 7, SIZE));
            engine.publish(1, FakePublisher.stored(1, 1, SIZE));
            eventually().until(() -> depth() == 2);
            assertEquals(0, counters.duplicates() + counters.restarts());
        }
    }

    @Test
    void broken_messages_are_counted_and_the_next_ones_still_apply() throws Exception {
        try (FakePublisher engine = FakePublisher.bound(ReplayShape.THREE);
                ZmqEventFeed feed = feed(NO_AUDIT)) {
            feed.subscribe(source(engine, true));
            joined(engine);
            long before = counters.badFrames();
            byte[] topic = "kv@x".getBytes(StandardCharsets.UTF_8);
            engine.raw(topic, FakePublisher.big(1));
            engine.raw(topic, new byte[3], FakePublisher.stored(1, 1, SIZE));
            engine.publish(1, new byte[] {(byte) 0xc1});
            engine.publish(2, FakePublisher.stored(1, 1, SIZE));
            eventually().until(() -> depth() == 2);
            assertEquals(2, counters.badFrames() - before);
            assertEquals(1, counters.rejectedBatches());
        }
    }

    @Test
    void nothing_is_applied_once_a_subscription_is_closed() throws Exception {
        try (FakePublisher engine = FakePublisher.bound(ReplayShape.THREE);
                ZmqEventFeed feed = feed(NO_AUDIT)) {
            Subscription sub = feed.subscribe(source(engine, true));
            joined(engine);
            sub.close();
            long before = counters.batches();
            engine.publish(1, FakePublisher.stored(1, 1, SIZE));
            // A second subscription proves that the message had time to arrive.
            WorkerSlot other = index.open(0);
            feed.subscribe(
                    new EventSource(
                            "v",
                            0,
                            List.of(other),
                            engine.endpoint(),
                            false,
                            engine.replayEndpoint(),
                            "kv@",
                            SIZE));
            eventually().until(() -> depth(other) == 2);
            assertEquals(1, depth());
            assertEquals(before + 2, counters.batches());
        }
    }

    @Test
    void closing_in_an_interrupted_thread_closes_and_keeps_the_interrupt() throws Exception {
        try (FakePublisher engine = FakePublisher.bound(ReplayShape.THREE);
                ZmqEventFeed feed = feed(NO_AUDIT)) {
            Subscription sub = feed.subscribe(source(engine, true));
            Thread.currentThread().interrupt();
            sub.close();
            assertTrue(Thread.interrupted());
            feed.subscribe(source(engine, true));
            joined(engine);
        }
    }

    @Test
    void a_closed_feed_takes_no_subscriptions_and_closing_again_is_harmless() throws Exception {
        try (FakePublisher engine = FakePublisher.bound(ReplayShape.THREE)) {
            ZmqEventFeed feed = feed(NO_AUDIT);
            Subscription sub = feed.subscribe(source(engine, true));
            feed.close();
            feed.close();
            sub.close();
            assertThrows(IllegalStateException.class, () -> feed.subscribe(source(engine, true)));
        }
    }

    @Test
    void many_sources_share_the_feed() throws Exception {
        int n = 20;
        FakePublisher[] engines = new FakePublisher[n];
        WorkerSlot[] slots = new WorkerSlot[n];
        try (ZmqEventFeed feed = feed(NO_AUDIT)) {
            for (int i = 0; i < n; i++) {
                engines[i] = FakePublisher.bound(ReplayShape.THREE);
                slots[i] = index.open(0);
                feed.subscribe(
                        new EventSource(
                                "w" + i,
                                0,
                                List.of(slots[i]),
                                engines[i].endpoint(),
                                false,
                                engines[i].replayEndpoint(),
                                "",
                                SIZE));
            }
            for (int i = 0; i < n; i++) {
                for (int b = 0; b <= i; b++) {
                    engines[i].publish(b, FakePublisher.stored(1, b, SIZE));
                }
            }
            for (int i = 0; i < n; i++) {
                WorkerSlot s = slots[i];
                int want = i + 1;
                FakePublisher engine = engines[i];
                // A batch sent before the connection stood shows up with the next one.
                int[] more = {want};
                eventually()
                        .until(
                                () -> {
                                    if (depth(s) >= want) {
                                        return true;
                                    }
                                    engine.publish(more[0], FakePublisher.stored(1, more[0], SIZE));
                                    more[0]++;
                                    return false;
                                });
                assertFalse(depth(s) > more[0]);
            }
        } finally {
            for (FakePublisher engine : engines) {
                if (engine != null) {
                    engine.close();
                }
            }
        }
    }

    /**
     * Returns when the connection stands and batch 0 is applied. Until a subscription has arrived
     * PUB drops silently, so frames that are no event are sent until one is heard; PUB keeps the
     * order, so after batch 0 none of them is still to come.
     */
    private void joined(FakePublisher engine) throws InterruptedException {
        eventually().until(() -> engine.requests() > 0);
        long before = counters.badFrames();
        eventually()
                .until(
                        () -> {
                            engine.raw("kv@probe".getBytes(StandardCharsets.UTF_8));
                            return counters.badFrames() > before;
                        });
        engine.publish(0, FakePublisher.stored(1, 0, SIZE));
        eventually().until(() -> depth() == 1);
    }

    private ZmqEventFeed feed(ZmqEventFeed.Settings settings) {
        return new ZmqEventFeed(index, counters, settings, System::nanoTime);
    }

    private EventSource source(FakePublisher engine, boolean replay) {
        @Nullable String at = replay ? engine.replayEndpoint() : null;
        return new EventSource("w", 0, List.of(slot), engine.endpoint(), false, at, "kv@", SIZE);
    }

    private static ConditionFactory eventually() {
        return await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(10));
    }

    private static int freePort() throws Exception {
        try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return s.getLocalPort();
        }
    }

    private int depth() {
        return depth(slot);
    }

    private int depth(WorkerSlot of) {
        int[] prompt = new int[600 * SIZE];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i;
        }
        PrefixMatch match =
                index.match(new PrefixQuery(prompt, prompt.length, SIZE, PrefixSpace.NONE));
        return match.depth(of, Tier.GPU);
    }
}
