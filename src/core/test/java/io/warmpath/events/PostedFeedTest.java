package io.warmpath.events;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.EventFeed.Subscription;
import io.warmpath.events.PostedFeed.Taken;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Batches as an engine posts them: block i of the prompt 0, 1, 2, ... is named i + 1. */
@Timeout(30)
class PostedFeedTest {
    private static final int SIZE = 2;
    private static final long PATIENCE = 5_000_000_000L;

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot slot = index.open(0);
    private final EventCounters counters = new EventCounters();
    private final AtomicLong clock = new AtomicLong();
    private final PostedFeed feed =
            new PostedFeed(
                    index,
                    counters,
                    new SourceSession.Timing(PATIENCE, Long.MAX_VALUE, Long.MAX_VALUE),
                    clock::get);
    private final Subscription source =
            feed.subscribe(
                    new EventSource(
                            "w", 0, List.of(slot), EventEndpoint.POSTED, false, null, "", SIZE));

    @AfterEach
    void close() {
        feed.close();
        index.close();
    }

    @Test
    void batches_in_order_are_applied_and_each_answer_names_the_next() throws Exception {
        assertEquals(EventView.CONNECTING, source.state());
        for (int i = 0; i < 5; i++) {
            assertEquals(new Taken(i + 1, false, EventView.EXACT), post(1, i, stored(i)));
        }
        assertEquals(5, depth());
        assertEquals(5, source.status().batches());
        assertEquals(4, source.status().sequence());
    }

    @Test
    void a_batch_that_comes_again_is_not_applied_again() throws Exception {
        post(1, 0, stored(0));
        post(1, 1, new KvEvent.Cleared());
        assertEquals(new Taken(2, true, EventView.EXACT), post(1, 0, stored(0)));
        assertEquals(0, depth());
        assertEquals(1, source.status().duplicates());
    }

    @Test
    void a_gap_is_refused_and_lowers_the_trust_until_it_is_filled() throws Exception {
        post(1, 0, stored(0));
        GatewayError.EventsOutOfOrder refused = refused(1, 2, stored(2));
        assertEquals(1, refused.sequence());
        assertEquals(1, refused.epoch());
        assertEquals(EventView.REPAIRING, source.state());
        assertEquals(1, depth());
        refused(1, 3, stored(3));
        assertEquals(1, source.status().gaps(), "one hole, however often it is told");
        for (int i = 1; i < 4; i++) {
            post(1, i, stored(i));
        }
        assertEquals(4, depth());
        assertEquals(EventView.EXACT, source.state());
        assertEquals(1, source.status().repaired());
    }

    /** The other feed's clock says when this one would have been awake ten times. */
    @Test
    void a_feed_without_sources_sleeps() throws Exception {
        source.close();
        AtomicLong looks = new AtomicLong();
        PostedFeed other =
                new PostedFeed(
                        index,
                        counters,
                        new SourceSession.Timing(PATIENCE, Long.MAX_VALUE, Long.MAX_VALUE),
                        looks::incrementAndGet);
        try {
            Thread mine = threadOf(feed);
            other.subscribe(
                    new EventSource(
                            "o", 0, List.of(slot), EventEndpoint.POSTED, false, null, "", SIZE));
            looks.set(0);
            await().until(() -> looks.get() > 2); // the last tick of this feed is over
            long slept = waits(mine);
            looks.set(0);
            await().until(() -> looks.get() > 10);
            assertEquals(slept, waits(mine), "times that it went to sleep again");
        } finally {
            other.close();
        }
    }

    private static Thread threadOf(PostedFeed feed) throws Exception {
        CompletableFuture<Thread> its = new CompletableFuture<>();
        assertTrue(
                feed.post(
                        new byte[0],
                        b -> {
                            its.complete(Thread.currentThread());
                            return refuse();
                        },
                        taken -> {},
                        refused -> {}));
        return its.get(10, TimeUnit.SECONDS);
    }

    private static long waits(Thread thread) {
        return ManagementFactory.getThreadMXBean()
                .getThreadInfo(thread.threadId())
                .getWaitedCount();
    }

    /** What was removed in the hole is not known. */
    @Test
    void a_gap_that_is_not_filled_in_time_forgets_the_rank() throws Exception {
        post(1, 0, stored(0));
        refused(1, 2, stored(2));
        clock.addAndGet(PATIENCE);
        await().atMost(Duration.ofSeconds(10)).until(() -> source.state() == EventView.GAP);
        assertEquals(0, depth());
        assertEquals(1, source.status().lost());
        post(1, 1, new KvEvent.Cleared());
        assertEquals(EventView.EXACT, source.state(), "a clear makes the view whole again");
    }

    @Test
    void another_process_begins_at_zero_and_the_old_ones_blocks_are_gone() throws Exception {
        post(7, 0, stored(0));
        post(7, 1, stored(1));
        assertEquals(0, refused(8, 2, stored(0)).sequence());
        assertEquals(2, depth(), "nothing of a refused batch is applied");
        assertEquals(new Taken(1, false, EventView.EXACT), post(8, 0, stored(0)));
        assertEquals(1, depth());
        assertEquals(1, source.status().restarts());
        GatewayError.EventsOutOfOrder late = refused(7, 2, stored(2));
        assertEquals(8, late.epoch());
        assertEquals(1, late.sequence());
        assertEquals(1, depth());
    }

    /** This gateway was restarted, the engine was not. */
    @Test
    void the_first_batch_is_taken_whatever_its_number_and_the_view_is_not_whole() throws Exception {
        assertEquals(new Taken(501, false, EventView.GAP), post(1, 500, stored(0)));
        post(1, 501, stored(1));
        assertEquals(2, depth());
        assertEquals(new Taken(1, false, EventView.EXACT), post(2, 0, stored(0)));
        assertEquals(1, depth());
    }

    /** As for 500, though a simulator at a socket counts so. */
    @Test
    void a_first_batch_one_is_not_the_first_one() throws Exception {
        KvEvent.Stored s = (KvEvent.Stored) stored(0);
        KvEvent.Stored parentZero =
                new KvEvent.Stored(
                        s.hashes(),
                        true,
                        0,
                        s.tokens(),
                        false,
                        s.blockSize(),
                        "GPU",
                        null,
                        false,
                        null,
                        s.plainBlocks(),
                        null,
                        s.scope());
        assertEquals(new Taken(2, false, EventView.GAP), post(1, 1, parentZero));
    }

    @Test
    void who_is_not_registered_to_post_is_refused() {
        CompletableFuture<Taken> answer = new CompletableFuture<>();
        assertTrue(
                feed.post(
                        new byte[1],
                        b -> new PostedBatch("other", 0, 1, 0, batch(stored(0))),
                        answer::complete,
                        answer::completeExceptionally));
        ExecutionException e =
                assertThrows(ExecutionException.class, () -> answer.get(10, TimeUnit.SECONDS));
        GatewayException known = assertInstanceOf(GatewayException.class, e.getCause());
        assertEquals("worker", ((GatewayError.BadRequest) known.error()).param());
        source.close();
        assertThrows(ExecutionException.class, () -> post(1, 0, stored(0)));
        assertEquals(0, depth());
    }

    @Test
    void what_waits_is_bounded_and_nobody_waits_for_room() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch applied = new CountDownLatch(1);
        assertTrue(
                feed.post(
                        new byte[1],
                        b -> {
                            waitFor(go);
                            return new PostedBatch("w", 0, 1, 0, batch(stored(0)));
                        },
                        t -> applied.countDown(),
                        e -> {}));
        byte[] large = new byte[8 << 20];
        int taken = 0;
        while (taken < 100 && feed.post(large, b -> refuse(), t -> {}, e -> {})) {
            taken++;
        }
        assertEquals(7, taken, "64 MiB, and what waits already");
        go.countDown();
        assertTrue(applied.await(10, TimeUnit.SECONDS));
        await().atMost(Duration.ofSeconds(10))
                .until(() -> feed.post(large, b -> refuse(), t -> {}, e -> {}));
        feed.close();
        assertFalse(feed.post(new byte[1], b -> refuse(), t -> {}, e -> {}));
    }

    private static void waitFor(CountDownLatch latch) {
        try {
            assertTrue(latch.await(10, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static PostedBatch refuse() {
        throw new GatewayException(new GatewayError.BadRequest("", "no"));
    }

    private Taken post(long epoch, long sequence, KvEvent event) throws Exception {
        CompletableFuture<Taken> answer = new CompletableFuture<>();
        byte[] body = (epoch + " " + sequence + " " + event).getBytes(StandardCharsets.UTF_8);
        assertTrue(
                feed.post(
                        body,
                        b -> new PostedBatch("w", 0, epoch, sequence, batch(event)),
                        answer::complete,
                        answer::completeExceptionally));
        return answer.get(10, TimeUnit.SECONDS);
    }

    private GatewayError.EventsOutOfOrder refused(long epoch, long sequence, KvEvent event) {
        ExecutionException e =
                assertThrows(ExecutionException.class, () -> post(epoch, sequence, event));
        GatewayException known = assertInstanceOf(GatewayException.class, e.getCause());
        return assertInstanceOf(GatewayError.EventsOutOfOrder.class, known.error());
    }

    private static KvBatch batch(KvEvent event) {
        return new KvBatch(0, KvBatch.NO_RANK, List.of(event), 0, 0);
    }

    private static KvEvent stored(int block) {
        return new KvEvent.Stored(
                new long[] {block + 1},
                block > 0,
                block,
                new int[] {2 * block, 2 * block + 1},
                false,
                SIZE,
                null,
                null,
                false,
                null,
                1,
                null,
                KvEvent.Scope.NONE);
    }

    private int depth() {
        int[] prompt = new int[20];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i;
        }
        return index.match(new PrefixQuery(prompt, prompt.length, SIZE, PrefixSpace.NONE))
                .depth(slot, Tier.GPU);
    }
}
