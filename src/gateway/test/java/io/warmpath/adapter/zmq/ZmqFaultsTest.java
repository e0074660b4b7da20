package io.warmpath.adapter.zmq;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed.Subscription;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceStatus;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Engines as processes, under load all the time, and what can happen to them and to the wire. In
 * the end the index predicts, prompt by prompt, what the engine itself then counts as cached: it
 * evicts, so that both too much and too little would show.
 *
 * <p>{@code -Dtest.requests=N} (300) sends more while the wire loses, {@code -Dtest.pause=S} (3)
 * stops an engine for longer.
 */
@Timeout(300)
@Tag("slow")
class ZmqFaultsTest {
    private static final int REQUESTS = Integer.getInteger("test.requests", 300);
    private static final int PAUSE_SECONDS = Integer.getInteger("test.pause", 3);
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int SIZE = 16;
    private static final int BLOCKS = 6;
    private static final int PROMPTS = 24;

    /** Prompts that fit into an engine at once. */
    private static final int ROOM = 18;

    private final long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 10_000);
    private final WorkerSlot slot = index.open(0);
    private final EventCounters counters = new EventCounters();

    /** Nanoseconds that the feed's clock has jumped ahead. */
    private final AtomicLong ahead = new AtomicLong();

    private final ZmqEventFeed feed =
            new ZmqEventFeed(
                    index,
                    counters,
                    new ZmqEventFeed.Settings(
                            Duration.ofSeconds(2),
                            Duration.ofMillis(300),
                            Duration.ofHours(100),
                            Duration.ofHours(100),
                            Duration.ofMillis(20),
                            Duration.ofMillis(100)),
                    () -> System.nanoTime() + ahead.get());
    private EngineProcess engine;

    @BeforeEach
    void startEngine() throws IOException {
        System.out.println("ZmqFaultsTest -Dwarmpath.test.seed=" + seed);
        engine =
                new EngineProcess("--speed", "1000", "--gpu-blocks", String.valueOf(ROOM * BLOCKS));
    }

    @AfterEach
    void stop() throws Exception {
        feed.close();
        index.close();
        engine.close();
    }

    /** Live messages only: what is asked for again comes by TCP, which loses nothing. */
    @Test
    void a_tenth_lost_a_tenth_doubled_a_tenth_late_and_a_clock_that_jumps() throws Exception {
        try (LossyWire wire = new LossyWire(engine.events(), random)) {
            Subscription sub = subscribe(wire.endpoint());
            load(REQUESTS / 2);
            ahead.addAndGet(TimeUnit.HOURS.toNanos(3));
            load(REQUESTS - REQUESTS / 2);
            assertIndexIsTheEngines(sub);
            assertTrue(wire.harmed(), wire.toString());
            assertTrue(sub.status().gaps() > 0, sub.status().toString());
            assertEquals(0, counters.gapsLost() + counters.restarts(), "nothing was given up");
        }
    }

    /** The control of the test before: without the replay the same wire leaves a trace. */
    @Test
    void the_same_wire_without_a_replay_is_not_believed() throws Exception {
        try (LossyWire wire = new LossyWire(engine.events(), random)) {
            Subscription sub =
                    feed.subscribe(
                            new EventSource(
                                    "w", 0, List.of(slot), wire.endpoint(), false, null, "", SIZE));
            eventually()
                    .until(
                            () -> {
                                load(10);
                                return sub.status().lost() > 0;
                            });
            assertNotEquals(EventView.EXACT, sub.state());
        }
    }

    @Test
    void an_engine_killed_under_load_and_started_again_is_known_as_it_is_now() throws Exception {
        Subscription sub = subscribe(engine.events());
        load(100);
        try (Load load = new Load()) {
            load.untilServed(20);
            engine.kill();
            eventually().until(() -> sub.state() == EventView.GONE);
            assertEquals(SourceStatus.Belief.NOTHING, sub.status().belief());
            engine.start();
            load.untilServed(40);
        }
        assertIndexIsTheEngines(sub);
        assertEquals(1, sub.status().restarts());
    }

    @Test
    void an_engine_stopped_under_load_goes_on_where_it_was() throws Exception {
        Subscription sub = subscribe(engine.events());
        load(100);
        try (Load load = new Load()) {
            load.untilServed(20);
            engine.pause();
            // The time it is away is what is tested: nothing tells that it has passed.
            TimeUnit.SECONDS.sleep(PAUSE_SECONDS);
            engine.resume();
            load.untilServed(20);
        }
        assertIndexIsTheEngines(sub);
        assertEquals(0, sub.status().restarts() + sub.status().lost(), sub.status().toString());
    }

    /** Ends with the test, whatever the engine does meanwhile. */
    private final class Load implements AutoCloseable {
        private final AtomicInteger served = new AtomicInteger();
        private volatile boolean stopping;
        private final Thread thread = Thread.ofVirtual().start(this::run);

        private void run() {
            Random mine = new Random(seed + 1);
            while (!stopping) {
                try {
                    engine.complete(prompt(mine.nextInt(PROMPTS)), PATIENCE);
                    served.incrementAndGet();
                } catch (IOException e) {
                    // It is dead at the moment.
                    LockSupport.parkNanos(10_000_000);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        /** So many more. */
        void untilServed(int more) {
            int want = served.get() + more;
            eventually().until(() -> served.get() >= want);
        }

        @Override
        public void close() {
            stopping = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Subscription subscribe(String endpoint) throws Exception {
        Subscription sub =
                feed.subscribe(
                        new EventSource(
                                "w", 0, List.of(slot), endpoint, false, engine.replay(), "", SIZE));
        load(1);
        awaitCaughtUp(sub);
        return sub;
    }

    private void load(int requests) throws IOException, InterruptedException {
        for (int i = 0; i < requests; i++) {
            engine.complete(prompt(random.nextInt(PROMPTS)), PATIENCE);
        }
    }

    private void awaitCaughtUp(Subscription sub) {
        eventually()
                .untilAsserted(
                        () -> {
                            assertEquals(engine.published(), sub.status().sequence() + 1);
                            assertEquals(EventView.EXACT, sub.state(), sub.status().toString());
                        });
    }

    /** Asks the engine for one prompt after the other; each answer changes what it holds. */
    private void assertIndexIsTheEngines(Subscription sub) throws Exception {
        int all = 0;
        for (int i = 0; i < PROMPTS; i++) {
            awaitCaughtUp(sub);
            int known = depth(i);
            all += known;
            assertEquals(known * SIZE, engine.complete(prompt(i), PATIENCE), "prompt " + i);
        }
        assertTrue(all > 0, "it held nothing: this proved nothing");
        assertNotEquals(PROMPTS * BLOCKS, all, "it held all: nothing was evicted");
    }

    private int depth(int number) {
        int[] ids = tokens(number);
        return index.match(new PrefixQuery(ids, ids.length, SIZE, PrefixSpace.NONE))
                .depth(slot, Tier.GPU);
    }

    /** A token more than whole blocks: the last one is always computed. */
    private static int[] tokens(int number) {
        int[] ids = new int[BLOCKS * SIZE + 1];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = number * 100 + i % 90;
        }
        return ids;
    }

    private static String prompt(int number) {
        return Arrays.toString(tokens(number));
    }

    private static ConditionFactory eventually() {
        return await().atMost(PATIENCE).pollInterval(Duration.ofMillis(10));
    }
}
