package io.warmpath.events;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What recorded engines do that a careful reader might stumble over, one habit a test. (The whole
 * recordings are replayed by CaptureReplayTest; publishers that connect to us by ZmqEventFeedTest.)
 *
 * <p>Blocks are one token long: block n holds token n and follows block n-1.
 */
class EngineHabitsTest {
    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot slot = index.open(0);
    private final EventCounters counters = new EventCounters();
    private final List<KvBatch> script = new ArrayList<>();
    private final SourceSession session =
            new SourceSession(
                    new EventSource("w", 0, List.of(slot), "inproc://x", false, null, "", 1),
                    index,
                    payload -> script.get(payload[0]),
                    counters,
                    null,
                    (before, now) -> {},
                    new SourceSession.Timing(1, Long.MAX_VALUE / 4, Long.MAX_VALUE / 4),
                    () -> 0);

    @AfterEach
    void close() {
        index.close();
    }

    /** The clear that SGLang sends at its start is batch 0, its warm-up's blocks are batch 1. */
    @Test
    void a_clear_as_the_first_batch_is_a_beginning_and_no_restart() {
        say(new KvEvent.Cleared());
        assertEquals(EventView.EXACT, session.status().state());
        say(stored(0, 1));
        assertEquals(2, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(0, counters.restarts());
    }

    /** vLLM says that its cache was reset only when it schedules the next request. */
    @Test
    void a_clear_that_comes_with_the_next_request_keeps_that_requests_blocks() {
        say(stored(0, 1, 2));
        say(new KvEvent.Cleared(), stored(0));
        assertEquals(1, depth(), "what was before the clear has gone, what came with it has not");
        assertEquals(EventView.EXACT, session.status().state());
    }

    /**
     * vLLM computes the last block of a repeated prompt again: one id twice, and twice removed, the
     * first time while the other copy stays. Counting it as gone costs a block, never a wrong one.
     */
    @Test
    void an_id_stored_twice_is_gone_with_its_first_removal() {
        say(stored(0, 1));
        say(follows(1));
        assertEquals(2, depth());
        say(removed(1));
        assertEquals(1, depth());
        say(removed(1));
        assertEquals(1, depth());
        assertEquals(1, counters.unknownRemoved());
        say(follows(1));
        assertEquals(2, depth());
    }

    /** llm-d's simulator tells the blocks of a second in any order. */
    @Test
    void a_child_before_its_parent_counts_once_the_parent_has_come() {
        say(follows(2), follows(1), stored(0));
        assertEquals(3, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(2, counters.orphans());
    }

    /** llm-d's simulator counts its batches from 1. */
    @Test
    void a_first_batch_with_the_number_one_has_nothing_before_it() {
        script.add(new KvBatch(0, 0, List.of(event(0L, 0)), 0, 0));
        session.live(1, new byte[] {0});
        assertEquals(EventView.EXACT, session.status().state());
    }

    /** vLLM and SGLang count from 0. */
    @Test
    void a_first_batch_with_the_number_one_has_one_before_it_elsewhere() {
        script.add(new KvBatch(0, 0, List.of(stored(0)), 0, 0));
        session.live(1, new byte[] {0});
        assertEquals(EventView.GAP, session.status().state());
    }

    private void say(KvEvent... events) {
        script.add(new KvBatch(0, 0, List.of(events), 0, 0));
        int n = script.size() - 1;
        session.live(n, new byte[] {(byte) n});
    }

    private static long id(int block) {
        return 100L + block;
    }

    /** Blocks from the start of a prompt. */
    private static KvEvent stored(int... blocks) {
        return event(null, blocks);
    }

    private static KvEvent follows(int block) {
        return event(id(block - 1), block);
    }

    private static KvEvent event(@Nullable Long parent, int... blocks) {
        long[] ids = new long[blocks.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = id(blocks[i]);
        }
        return new KvEvent.Stored(
                ids,
                parent != null,
                parent == null ? 0 : parent,
                blocks,
                false,
                1,
                "GPU",
                null,
                false,
                null,
                ids.length,
                null,
                KvEvent.Scope.NONE);
    }

    private static KvEvent removed(int block) {
        return new KvEvent.Removed(new long[] {id(block)}, "GPU", KvEvent.Scope.NONE);
    }

    private int depth() {
        int[] prompt = {0, 1, 2, 3, 4, 5, 6, 7};
        return index.match(new PrefixQuery(prompt, prompt.length, 1, PrefixSpace.NONE))
                .depth(slot, Tier.GPU);
    }
}
