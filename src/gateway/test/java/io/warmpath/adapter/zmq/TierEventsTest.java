package io.warmpath.adapter.zmq;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.zmq.FakePublisher.ReplayShape;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceStatus;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.sim.cache.CacheEvent;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.Medium;
import io.warmpath.sim.wire.EventEncoder;
import io.warmpath.sim.wire.WireFormat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * HiCache's moves between its tiers, as SGLang says them over real sockets. Two numbers are the
 * proof: blocks of the prompt from the start that lie on the device, and those that lie there or in
 * host memory.
 */
@Timeout(60)
class TierEventsTest {
    private static final int SIZE = 4;
    private static final int BLOCKS = 3;
    private static final int[] PROMPT = new int[BLOCKS * SIZE];

    static {
        Arrays.setAll(PROMPT, i -> 100 + i);
    }

    /** The wire of old releases before the Java index, that of new ones before the native one. */
    enum Setup {
        ARRAYS(WireFormat.SGLANG_ARRAY, false),
        MAPS_NATIVE(WireFormat.SGLANG_MAP, true);

        final WireFormat format;
        final boolean isNative;

        Setup(WireFormat format, boolean isNative) {
            this.format = format;
            this.isNative = isNative;
        }
    }

    /** One worker on the wire and what the index makes of it. */
    private static final class Wire implements AutoCloseable {
        final PrefixIndex index;
        final WorkerSlot slot;
        final EventCounters counters = new EventCounters();
        final FakePublisher engine = FakePublisher.bound(ReplayShape.TWO);
        final ZmqEventFeed feed;
        final io.warmpath.events.EventFeed.Subscription source;
        final EventEncoder encoder;
        long sequence;

        Wire(Setup setup) throws InterruptedException {
            index =
                    setup.isNative
                            ? new NativePrefixIndex(
                                    Optional.empty(),
                                    NativePrefixIndex.DEFAULT_ORPHAN_LIMIT,
                                    DecisionLimits.DEFAULT)
                            : new ReferencePrefixIndex();
            slot = index.open(0);
            encoder = new EventEncoder(setup.format, false);
            feed =
                    new ZmqEventFeed(
                            index, counters, ZmqEventFeed.Settings.DEFAULT, System::nanoTime);
            source =
                    feed.subscribe(
                            new EventSource(
                                    "w",
                                    0,
                                    List.of(slot),
                                    engine.endpoint(),
                                    false,
                                    engine.replayEndpoint(),
                                    "kv@",
                                    SIZE));
            soon(() -> engine.requests() > 0);
            soon(
                    () -> {
                        engine.raw("kv@probe".getBytes(StandardCharsets.UTF_8));
                        return counters.badFrames() > 0;
                    });
        }

        private static void soon(Callable<Boolean> condition) {
            await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(2)).until(condition);
        }

        /** These events as one batch; returns when it is applied. */
        void say(CacheEvent... events) throws InterruptedException {
            long applied = counters.applied() + events.length;
            engine.publish(sequence++, encoder.encode(1.5, List.of(events), 0));
            soon(() -> counters.applied() == applied);
            assertEquals(0, counters.orphans() + counters.unknownRemoved());
        }

        PrefixMatch match() {
            return index.match(new PrefixQuery(PROMPT, PROMPT.length, SIZE, PrefixSpace.NONE));
        }

        void holds(int onDevice, int withHost) {
            PrefixMatch m = match();
            assertEquals(
                    List.of(onDevice, withHost, withHost, withHost),
                    Arrays.stream(Tier.values()).map(t -> m.depth(slot, t)).toList());
        }

        @Override
        public void close() {
            feed.close();
            engine.close();
            index.close();
        }
    }

    private static byte[] digest(int block) {
        byte[] digest = new byte[32];
        Arrays.fill(digest, (byte) (7 + 31 * block));
        return digest;
    }

    /** Blocks {@code from} to {@code to}, the last excluded, now lie there. */
    private static CacheEvent store(Medium medium, int from, int to) {
        List<byte[]> digests = new ArrayList<>();
        for (int i = from; i < to; i++) {
            digests.add(digest(i));
        }
        return new CacheEvent.Stored(
                medium,
                from == 0 ? null : digest(from - 1),
                digests,
                Arrays.copyOfRange(PROMPT, from * SIZE, to * SIZE),
                SIZE,
                CacheSpace.NONE,
                null);
    }

    private static CacheEvent remove(Medium medium, int from, int to) {
        List<byte[]> digests = new ArrayList<>();
        for (int i = from; i < to; i++) {
            digests.add(digest(i));
        }
        return new CacheEvent.Removed(medium, digests);
    }

    @ParameterizedTest
    @EnumSource
    void a_fresh_prefill_is_on_the_device(Setup setup) throws Exception {
        try (Wire w = new Wire(setup)) {
            w.say(store(Medium.GPU, 0, 3));
            w.holds(3, 3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_block_on_two_tiers_counts_once_on_the_faster_one(Setup setup) throws Exception {
        try (Wire w = new Wire(setup)) {
            w.say(store(Medium.GPU, 0, 3));
            w.say(store(Medium.HOST, 0, 3));
            w.holds(3, 3);
            assertEquals(3, w.source.status().offloadedBlocks());
        }
    }

    @ParameterizedTest
    @EnumSource
    void evicted_from_the_device_it_is_still_in_host_memory(Setup setup) throws Exception {
        try (Wire w = new Wire(setup)) {
            w.say(store(Medium.GPU, 0, 3));
            w.say(store(Medium.HOST, 0, 3));
            w.say(remove(Medium.GPU, 2, 3));
            w.holds(2, 3);
            w.say(remove(Medium.GPU, 0, 2));
            w.holds(0, 3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void evicted_from_host_memory_it_is_gone(Setup setup) throws Exception {
        try (Wire w = new Wire(setup)) {
            w.say(store(Medium.GPU, 0, 3), store(Medium.HOST, 0, 3), remove(Medium.GPU, 1, 3));
            w.holds(1, 3);
            w.say(remove(Medium.HOST, 2, 3));
            w.holds(1, 2);
            w.say(remove(Medium.HOST, 0, 2));
            w.holds(1, 1);
            w.say(remove(Medium.GPU, 0, 1));
            w.holds(0, 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void loaded_back_it_is_on_the_device_again(Setup setup) throws Exception {
        try (Wire w = new Wire(setup)) {
            w.say(store(Medium.GPU, 0, 3), store(Medium.HOST, 0, 3), remove(Medium.GPU, 0, 3));
            w.holds(0, 3);
            w.say(store(Medium.GPU, 0, 2));
            w.holds(2, 3);
            w.say(remove(Medium.HOST, 0, 3));
            w.holds(2, 2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void prefetched_from_outside_it_is_in_host_memory(Setup setup) throws Exception {
        try (Wire w = new Wire(setup)) {
            w.say(store(Medium.HOST, 0, 2));
            w.holds(0, 2);
        }
        try (Wire w = new Wire(setup)) {
            w.say(store(Medium.GPU, 0, 1));
            w.say(store(Medium.HOST, 1, 3));
            w.holds(1, 3);
        }
    }

    /** A reader looks all the time while blocks move down and up; they never drop out of sight. */
    @ParameterizedTest
    @EnumSource
    void stored_anew_before_it_is_removed_it_never_disappears(Setup setup) throws Exception {
        try (Wire w = new Wire(setup)) {
            w.say(store(Medium.GPU, 0, 3));
            AtomicBoolean stop = new AtomicBoolean();
            AtomicLong looks = new AtomicLong();
            AtomicLong least = new AtomicLong(BLOCKS);
            Thread reader =
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        while (!stop.get()) {
                                            int seen = w.match().depth(w.slot, Tier.HOST);
                                            least.accumulateAndGet(seen, Math::min);
                                            looks.incrementAndGet();
                                        }
                                    });
            try {
                await().until(() -> looks.get() > 0);
                for (int i = 0; i < 8; i++) {
                    w.say(store(Medium.HOST, 0, 3), remove(Medium.GPU, 0, 3));
                    w.say(store(Medium.GPU, 0, 3));
                    w.say(remove(Medium.HOST, 0, 3));
                }
            } finally {
                stop.set(true);
                reader.join();
            }
            assertEquals(BLOCKS, least.get(), "of " + looks + " looks");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_clear_empties_every_tier(Setup setup) throws Exception {
        try (Wire w = new Wire(setup)) {
            w.say(store(Medium.GPU, 0, 2), store(Medium.HOST, 0, 3));
            w.holds(2, 3);
            w.say(new CacheEvent.Cleared());
            w.holds(0, 0);
            SourceStatus s = w.source.status();
            assertEquals(List.of(5L, 3L), List.of(s.storedBlocks(), s.offloadedBlocks()));
        }
    }
}
