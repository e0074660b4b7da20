package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What one call costs in memory, and that the ways to ask agree. */
@Tag("measured")
class NativeCallTest {
    private static final int BLOCK = 16;
    private static final int BLOCKS = 256;
    private static final int WORKERS = 8;

    private static final int[] PROMPT = new int[BLOCKS * BLOCK];

    static {
        Arrays.setAll(PROMPT, i -> i * 31);
    }

    /**
     * Object heads and padding of the answer, and room for what the compiler has not yet removed;
     * far less than the tokens or the hashes of the prompt.
     */
    private static final long SMALL = 512;

    /** Where the control's arrays go, so that they are made at all. */
    private static volatile long[] made = new long[0];

    @Test
    void a_query_allocates_only_its_answer() {
        try (PrefixIndex index = held()) {
            PrefixQuery depths = new PrefixQuery(PROMPT, PROMPT.length, BLOCK, PrefixSpace.NONE);
            long answer = 4L * WORKERS * (1 + Tier.COUNT);
            long allocated = bytesPerCall(() -> index.match(depths));
            assertTrue(
                    allocated >= answer, allocated + " bytes: the probe does not see the answer");
            assertTrue(allocated <= answer + SMALL, allocated + " bytes for " + answer);
        }
    }

    /** The probe must see an array as small as the hashes of the prompt. */
    @Test
    void control_a_call_that_makes_the_hashes_too_is_seen_as_larger() {
        try (PrefixIndex index = held()) {
            PrefixQuery query = new PrefixQuery(PROMPT, PROMPT.length, BLOCK, PrefixSpace.NONE);
            long allocated =
                    bytesPerCall(
                            () -> {
                                made = new long[BLOCKS];
                                return index.match(query);
                            });
            assertTrue(allocated > 8L * BLOCKS + SMALL / 8, allocated + " bytes");
            assertTrue(allocated <= 8L * BLOCKS + 4L * WORKERS * (1 + Tier.COUNT) + SMALL);
        }
    }

    /** The least of several rounds: the compiler works beside the first ones. */
    private static long bytesPerCall(Supplier<PrefixMatch> call) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int calls = 2000;
        long least = Long.MAX_VALUE;
        long seen = 0;
        for (int round = 0; round < 20; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < calls; i++) {
                seen += call.get().size();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(20L * calls * WORKERS, seen);
        return least / calls;
    }

    private static PrefixIndex held() {
        PrefixIndex index =
                new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
        List<PrefixEvent> events = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            int count = BLOCKS / (i + 1);
            long[] hashes = new long[count];
            Arrays.setAll(hashes, b -> 100 + b);
            events.add(
                    new PrefixEvent.Stored(
                            index.open(0),
                            i % 2 == 0 ? Tier.GPU : Tier.DISK,
                            false,
                            0,
                            hashes,
                            Arrays.copyOf(PROMPT, count * BLOCK),
                            BLOCK,
                            PrefixSpace.NONE));
        }
        index.apply(events);
        return index;
    }

    /** More hits than the first buffer has room for: the second try must be the whole answer. */
    @Test
    void an_answer_larger_than_the_buffer_is_asked_for_again() {
        try (PrefixIndex index = held()) {
            List<PrefixEvent> events = new ArrayList<>();
            long room = new Scratch().hits.capacity() / KvLayout.HIT_SIZE;
            for (int i = 0; i <= room; i++) {
                events.add(
                        new PrefixEvent.Stored(
                                index.open(0),
                                Tier.HOST,
                                false,
                                0,
                                new long[] {100},
                                Arrays.copyOf(PROMPT, BLOCK),
                                BLOCK,
                                PrefixSpace.NONE));
            }
            index.apply(events);
            PrefixMatch match = index.match(query());
            assertEquals(WORKERS + room + 1, match.size());
            for (int i = 0; i < match.size(); i++) {
                assertEquals(i, match.slotAt(i));
            }
            assertEquals(BLOCKS, match.depth(new WorkerSlot(0), Tier.GPU));
            assertEquals(1, match.depth(new WorkerSlot(match.size() - 1), Tier.EXTERNAL));
        }
    }

    private static PrefixQuery query() {
        return new PrefixQuery(PROMPT, PROMPT.length, BLOCK, PrefixSpace.NONE);
    }

    /** Hits from tokens, hits from hashes and dense rows, each through its own function. */
    @Test
    void dense_rows_say_the_same_as_hits() {
        try (NativePrefixIndex index = (NativePrefixIndex) held();
                Arena arena = Arena.ofConfined()) {
            PrefixMatch match = index.match(query());
            MemorySegment out = arena.allocate(64, 8);
            MemorySegment tokens = arena.allocateFrom(ValueLayout.JAVA_INT, PROMPT);
            MemorySegment locals = arena.allocate(8L * BLOCKS, 8);
            Status.check(
                    KvIndexLibrary.kvi_hash(
                            tokens.address(),
                            PROMPT.length,
                            BLOCK,
                            new Scratch().seed(PrefixSpace.NONE),
                            locals.address(),
                            0,
                            BLOCKS,
                            out.address()),
                    "kvi_hash");
            Status.check(
                    KvIndexLibrary.kvi_slot_bound(index.handle(), out.address()), "kvi_slot_bound");
            int stride = out.get(ValueLayout.JAVA_INT, 0);
            assertEquals(64, stride, "the next multiple of 64");
            MemorySegment rows = arena.allocate(4L * Tier.COUNT * stride, 8).fill((byte) 0xff);
            Status.check(
                    KvIndexLibrary.kvi_match_dense(
                            index.handle(),
                            0,
                            locals.address(),
                            BLOCKS,
                            Tier.COUNT,
                            rows.address(),
                            stride),
                    "kvi_match_dense");
            for (Tier tier : Tier.values()) {
                for (int number = 0; number < stride; number++) {
                    long at = 4L * (tier.number() * stride + number);
                    assertEquals(
                            match.depth(new WorkerSlot(number), tier),
                            rows.get(ValueLayout.JAVA_INT, at),
                            tier + " of " + number);
                }
            }
            assertEquals(
                    KvLayout.E_CAPACITY,
                    KvIndexLibrary.kvi_match_dense(
                            index.handle(),
                            0,
                            locals.address(),
                            BLOCKS,
                            Tier.COUNT,
                            rows.address(),
                            0));
        }
    }
}
