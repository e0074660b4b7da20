package io.warmpath.adapter.zmq;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed.Subscription;
import io.warmpath.events.EventSource;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every publisher kit must do, shown by its example engine: a process of its own, followed by
 * the gateway's feed over real sockets. The proof is that the index knows, before each prompt, how
 * many blocks the engine will find in its cache.
 */
@Timeout(120)
abstract class PublisherKitContract {
    private static final int BLOCK = 4;
    private static final int CACHE = 48;

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot slot = index.open(0);
    private final EventCounters counters = new EventCounters();

    /** Program and first arguments of the example engine. */
    abstract List<String> command();

    @AfterEach
    void closeIndex() {
        index.close();
    }

    @Test
    void the_index_knows_before_each_prompt_what_the_engine_has_cached() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (KitEngine engine = engine();
                ZmqEventFeed feed = feed()) {
            feed.subscribe(source(engine));
            for (int i = 0; i < 120; i++) {
                if (i % 50 == 49) {
                    engine.clear();
                }
                int[] prompt = drawn(random);
                caughtUp(engine);
                int known = depth(prompt);
                assertEquals(known, engine.prompt(prompt), "prompt " + i + ", seed " + seed);
            }
            caughtUp(engine);
            assertTrue(counters.removedBlocks() > CACHE, "nothing was evicted");
            assertEquals(0, counters.orphans());
            assertEquals(0, counters.rejectedBatches());
            assertEquals(0, counters.badEvents());
            assertEquals(0, counters.unknownFields());
        }
    }

    @Test
    void who_comes_late_learns_what_was_said_before() throws Exception {
        try (KitEngine engine = engine();
                ZmqEventFeed feed = feed()) {
            engine.prompt(counting(10));
            Subscription sub = feed.subscribe(source(engine));
            eventually().until(() -> depth(counting(10)) == 10 && sub.state() == EventView.EXACT);
            eventually().until(() -> engine.stat("replays") > 0);
        }
    }

    /**
     * A gateway that stands still for a moment: the engine goes on, what is dropped comes again.
     */
    @Test
    void what_is_dropped_is_a_gap_and_comes_again_by_replay() throws Exception {
        try (KitEngine engine = engine("--queue", "2");
                ZmqEventFeed feed = feed()) {
            Subscription sub = feed.subscribe(source(engine));
            engine.prompt(counting(10));
            caughtUp(engine);
            for (int tries = 0; engine.burst(200) == 0; tries++) {
                assertTrue(tries < 20, "no batch was ever dropped");
            }
            assertEquals(0, engine.prompt(counting(8)), "the burst evicts what was there");
            // The last batch may have been dropped, too: a gap shows by the one after it.
            for (int nudges = 0; !catchesUp(engine); nudges++) {
                assertTrue(nudges < 20, "20 batches more");
                engine.burst(1);
            }
            caughtUp(engine);
            eventually().until(() -> sub.state() == EventView.EXACT);
            assertEquals(8, depth(counting(10)));
            assertTrue(counters.gaps() > 0);
            assertEquals(0, counters.gapsLost());
        }
    }

    /** The new process counts from 0 again; nothing of the old one may be believed. */
    @Test
    void a_killed_engine_comes_back_empty_and_with_the_same_names() throws Exception {
        try (ZmqEventFeed feed = feed()) {
            String[] places;
            Subscription sub;
            try (KitEngine engine = engine()) {
                places =
                        new String[] {
                            "--endpoint", engine.endpoint(), "--replay", engine.replayEndpoint()
                        };
                sub = feed.subscribe(source(engine));
                engine.prompt(counting(10));
                caughtUp(engine);
                assertEquals(10, depth(counting(10)));
            }
            try (KitEngine again = engine(places)) {
                assertEquals(0, again.prompt(counting(6)));
                eventually()
                        .until(() -> depth(counting(10)) == 6 && sub.state() == EventView.EXACT);
                assertTrue(counters.restarts() > 0);
                assertEquals(0, counters.orphans());
                again.quit();
            }
        }
    }

    @Test
    void what_an_engine_says_before_it_ends_arrives() throws Exception {
        try (KitEngine engine = engine();
                ZmqEventFeed feed = feed()) {
            feed.subscribe(source(engine));
            engine.prompt(counting(1));
            caughtUp(engine);
            engine.prompt(counting(20));
            engine.quit();
            eventually().until(() -> depth(counting(20)) == 20);
        }
    }

    private KitEngine engine(String... flags) throws IOException {
        String[] all = Arrays.copyOf(flags, flags.length + 2);
        all[flags.length] = "--blocks";
        all[flags.length + 1] = Integer.toString(CACHE);
        return new KitEngine(command(), all);
    }

    private ZmqEventFeed feed() {
        return new ZmqEventFeed(
                index,
                counters,
                new ZmqEventFeed.Settings(
                        Duration.ofSeconds(5),
                        Duration.ofMillis(300),
                        Duration.ofHours(1),
                        Duration.ofHours(1),
                        Duration.ofMillis(20),
                        Duration.ofMillis(100)),
                System::nanoTime);
    }

    private EventSource source(KitEngine engine) {
        return new EventSource(
                "kit",
                0,
                List.of(slot),
                engine.endpoint(),
                false,
                engine.replayEndpoint(),
                "",
                BLOCK);
    }

    /** Within a second. */
    private boolean catchesUp(KitEngine engine) {
        long told = engine.stat("events");
        try {
            eventually().atMost(Duration.ofSeconds(1)).until(() -> counters.batches() >= told);
            return true;
        } catch (ConditionTimeoutException e) {
            return false;
        }
    }

    /** Each event of an example engine is a batch. */
    private void caughtUp(KitEngine engine) {
        long told = engine.stat("events");
        eventually().until(() -> counters.batches() >= told);
        assertEquals(
                told,
                counters.batches(),
                () ->
                        "a batch was applied twice; duplicates "
                                + counters.duplicates()
                                + ", gaps "
                                + counters.gaps()
                                + ", lost "
                                + counters.gapsLost()
                                + ", restarts "
                                + counters.restarts()
                                + ", replays "
                                + counters.replays()
                                + ", replayed "
                                + counters.replayedBatches());
    }

    private int depth(int[] prompt) {
        PrefixMatch match =
                index.match(new PrefixQuery(prompt, prompt.length, BLOCK, PrefixSpace.NONE));
        return match.depth(slot, Tier.GPU);
    }

    /** One of three conversations, cut anywhere, with an own end; of at most 20 blocks. */
    private static int[] drawn(Random random) {
        int conversation = random.nextInt(3);
        int common = random.nextInt(15 * BLOCK);
        int[] tokens = new int[common + random.nextInt(5 * BLOCK)];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = i < common ? conversation * 100_000 + i : random.nextInt(1 << 30);
        }
        return tokens.length == 0 ? new int[] {1} : tokens;
    }

    private static int[] counting(int blocks) {
        int[] tokens = new int[blocks * BLOCK];
        Arrays.setAll(tokens, i -> i);
        return tokens;
    }

    private static ConditionFactory eventually() {
        return await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }
}
