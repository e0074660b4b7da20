package io.warmpath.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.SourceStatus.Belief;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Order, gaps, replay, restarts and trust, without sockets and with a clock made of numbers.
 *
 * <p>Batch n of an epoch stores the one-token block n under block n-1, so the depth of the prompt
 * 0,1,2,... says exactly which batches have been applied.
 */
class SourceSessionTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int CLEAR = 1_000;
    private static final int BROKEN = 2_000;
    private static final int WIDE = 3_000;

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot slot = index.open(0);
    private final EventCounters counters = new EventCounters();
    private final List<Long> requests = new ArrayList<>();
    private final List<EventView> states = new ArrayList<>();
    private long now;

    @AfterEach
    void close() {
        index.close();
    }

    @Test
    void batches_in_order_from_zero_are_applied_and_trusted() {
        SourceSession session = session(false);
        send(session, 0, 1, 2);
        assertEquals(3, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(0, counters.gaps());
    }

    @Test
    void history_is_asked_for_once_connected_even_when_nothing_arrives() {
        SourceSession session = session(true);
        session.start();
        assertEquals(List.of(0L), requests);
        replay(session, 0, 1, 2);
        session.replayEnded();
        assertEquals(3, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void live_batches_wait_for_the_replay_and_none_is_applied_twice() {
        SourceSession session = session(true);
        session.start();
        send(session, 2, 3, 4);
        assertEquals(0, depth(), "live batches ran ahead of the replay");
        replay(session, 0, 1, 2, 3);
        session.replayEnded();
        assertEquals(5, depth());
        assertEquals(2, counters.duplicates());
        assertEquals(5, counters.batches());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_first_batch_above_zero_asks_for_the_history() {
        SourceSession session = session(true);
        send(session, 5);
        assertEquals(List.of(0L), requests);
        assertEquals(EventView.CONNECTING, session.status().state());
        replay(session, 0, 1, 2, 3, 4, 5);
        session.replayEnded();
        assertEquals(6, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_publisher_that_counts_from_one_is_complete() {
        SourceSession session = session(true);
        session.start();
        session.replayed(1, payload(0, 0));
        session.replayEnded();
        session.live(2, payload(0, 1));
        assertEquals(2, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_gap_is_filled_by_replay_and_never_shows_a_hole() {
        SourceSession session = session(true);
        send(session, 0, 1, 5, 6);
        assertEquals(List.of(1L), requests);
        assertFalse(session.status().state() == EventView.EXACT);
        replay(session, 1, 2, 3, 4, 5);
        session.replayEnded();
        assertEquals(7, depth());
        assertEquals(1, counters.gaps());
        assertEquals(0, counters.gapsLost());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_gap_without_replay_forgets_the_rank_and_stays_untrusted_until_a_clear() {
        SourceSession session = session(false);
        send(session, 0, 1, 5);
        assertEquals(EventView.REPAIRING, session.status().state());
        late(session);
        assertEquals(0, depth());
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(1, counters.gapsLost());
        session.live(6, payload(0, CLEAR));
        assertEquals(EventView.EXACT, session.status().state());
        session.live(7, payload(0, 0));
        assertEquals(1, depth());
    }

    @Test
    void a_hole_that_the_replay_buffer_no_longer_has_forgets_what_was_before_it() {
        SourceSession session = session(true);
        send(session, 0, 1, 9);
        session.replayed(7, payload(0, 0));
        session.replayed(8, payload(0, 1));
        session.replayed(9, payload(0, 9));
        session.replayEnded();
        assertEquals(1, counters.gapsLost());
        assertEquals(2, depth(), "what came after the hole counts");
        assertEquals(EventView.GAP, session.status().state());
    }

    @Test
    void a_replay_that_is_not_answered_is_tried_twice_and_given_up() {
        SourceSession session = session(true);
        send(session, 0, 1, 5);
        now += 4 * SECOND;
        session.tick();
        assertEquals(1, requests.size());
        now += 2 * SECOND;
        session.tick();
        assertEquals(List.of(1L, 1L), requests);
        assertTrue(session.replaying());
        assertEquals(2, depth(), "forgotten while there still was hope");
        now += 6 * SECOND;
        session.tick();
        assertFalse(session.replaying());
        assertEquals(2, counters.replayFailures());
        assertEquals(0, depth());
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(2, requests.size(), "a dead replay socket must not be asked in a circle");
    }

    @Test
    void an_empty_replay_buffer_is_not_asked_in_a_circle() {
        SourceSession session = session(true);
        session.start();
        session.replayEnded();
        send(session, 4);
        session.replayEnded();
        assertFalse(session.replaying());
        assertEquals(2, requests.size());
        send(session, 5);
        assertEquals(2, counters.batches());
    }

    @Test
    void a_sequence_that_falls_back_is_a_restart_and_clears_the_rank() {
        SourceSession session = session(false);
        send(session, 0, 1, 2);
        session.live(0, payload(1, 0));
        assertEquals(1, depth());
        assertEquals(1, counters.restarts());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_restart_right_after_the_first_batch_is_noticed() {
        SourceSession session = session(false);
        send(session, 0);
        session.live(0, payload(1, 0));
        assertEquals(1, counters.restarts());
        assertEquals(1, depth());
    }

    @Test
    void a_restart_whose_numbers_look_like_old_replayed_ones_is_noticed() {
        SourceSession session = session(true);
        send(session, 0, 6);
        replay(session, 0, 1, 2, 3, 4, 5, 6, 7, 8);
        session.replayEnded();
        assertEquals(9, depth());
        session.live(7, payload(1, 0));
        assertEquals(1, counters.restarts());
        assertEquals(List.of(0L, 0L), requests);
    }

    @Test
    void a_restart_whose_numbers_have_overtaken_ours_is_noticed_by_the_batch_before_the_gap() {
        SourceSession session = session(true);
        send(session, 0, 1, 2);
        session.live(5, payload(1, 5));
        assertEquals(List.of(2L), requests);
        session.replayed(2, payload(1, 2));
        assertEquals(List.of(2L, 0L), requests, "the new process is asked for its whole history");
        assertEquals(0, depth());
        for (int i = 0; i <= 5; i++) {
            session.replayed(i, payload(1, i));
        }
        session.replayEnded();
        assertEquals(6, depth());
        assertEquals(1, counters.restarts());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_silent_source_is_asked_whether_something_was_missed() {
        SourceSession session = session(true);
        send(session, 0, 1);
        now += 31 * SECOND;
        session.tick();
        assertEquals(List.of(1L), requests);
        assertEquals(
                EventView.EXACT,
                session.status().state(),
                "a routine check is no reason for doubt");
        replay(session, 1, 2, 3);
        session.replayEnded();
        assertEquals(4, depth());
        session.tick();
        assertEquals(1, requests.size());
    }

    @Test
    void a_silent_source_that_restarted_is_noticed_by_its_shorter_history() {
        SourceSession session = session(true);
        session.start();
        replay(session, 0, 1, 2, 3);
        session.replayEnded();
        now += 31 * SECOND;
        session.tick();
        session.replayEnded();
        assertEquals(0, depth());
        assertEquals(List.of(0L, 3L, 0L), requests);
        session.replayed(0, payload(1, 0));
        session.replayEnded();
        assertEquals(1, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_batch_that_cannot_be_read_is_counted_and_the_next_one_still_applied() {
        SourceSession session = session(false);
        send(session, 0);
        session.live(1, payload(0, BROKEN));
        assertEquals(EventView.GAP, session.status().state());
        session.live(2, payload(0, 1));
        assertEquals(1, counters.rejectedBatches());
        assertEquals(2, depth());
        assertEquals(EventView.GAP, session.status().state());
    }

    @Test
    void answers_after_the_end_change_nothing() {
        SourceSession session = session(true);
        session.start();
        replay(session, 0);
        session.replayEnded();
        replay(session, 1);
        session.replayEnded();
        assertEquals(1, depth());
    }

    @Test
    void a_late_start_without_replay_is_told_to_be_incomplete() {
        SourceSession session = session(false);
        assertEquals(EventView.CONNECTING, session.status().state());
        send(session, 7);
        assertEquals(List.of(EventView.GAP), states);
    }

    @Test
    void changes_of_state_are_told_once_each() {
        SourceSession session = session(false);
        send(session, 0, 1, 2, 9, 10);
        late(session);
        send(session, 11, 20);
        late(session);
        assertEquals(
                List.of(
                        EventView.EXACT,
                        EventView.REPAIRING,
                        EventView.GAP,
                        EventView.REPAIRING,
                        EventView.GAP),
                states);
        assertEquals(2, session.status().lost());
        assertEquals(2, session.status().gaps());
        assertEquals(0, session.status().repaired());
    }

    @Test
    void a_batch_that_was_overtaken_is_waited_for_and_applied_in_its_place() {
        SourceSession session = session(false);
        send(session, 0, 1, 4, 3, 5);
        assertEquals(2, depth());
        send(session, 2);
        assertEquals(6, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(1, session.status().gaps());
        assertEquals(1, session.status().repaired());
        assertEquals(0, counters.gapsLost() + counters.restarts());
    }

    @Test
    void what_waits_for_an_overtaken_batch_has_a_bound() {
        SourceSession session = session(false);
        send(session, 0);
        for (int i = 2; i < 70; i++) {
            send(session, i);
        }
        assertEquals(1, counters.gapsLost(), "given up before its time");
        assertEquals(69, counters.batches());
    }

    @Test
    void while_a_hole_is_repaired_what_is_known_counts_in_part() {
        SourceSession session = session(true);
        send(session, 0, 1, 5);
        SourceStatus status = session.status();
        assertEquals(EventView.REPAIRING, status.state());
        assertEquals(Belief.PART, status.belief());
        assertEquals("batches 2 to 4 were missed", status.why());
        replay(session, 1, 2, 3, 4, 5);
        session.replayEnded();
        assertEquals(Belief.ALL, session.status().belief());
        assertEquals(1, session.status().repaired());
        assertEquals(5, session.status().sequence());
    }

    @Test
    void after_a_hole_what_is_known_is_true_and_after_an_unreadable_batch_it_may_not_be() {
        SourceSession session = session(false);
        send(session, 0, 1, 5);
        late(session);
        assertEquals(Belief.ALL, session.status().belief(), "the doubtful part was forgotten");
        session.live(6, payload(0, BROKEN));
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(Belief.PART, session.status().belief(), "it may have been a removal");
        session.live(7, payload(0, CLEAR));
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(Belief.ALL, session.status().belief());
    }

    @Test
    void an_engine_that_computes_and_says_nothing_is_frozen_until_it_speaks() {
        SourceSession session = session(false);
        send(session, 0, 1);
        now += SECOND;
        session.computed(now);
        session.computed(now);
        now += 11 * SECOND;
        session.tick();
        assertEquals(EventView.EXACT, session.status().state(), "two may be a coincidence");
        session.computed(now);
        session.tick();
        assertEquals(EventView.FROZEN, session.status().state());
        assertEquals(Belief.NOTHING, session.status().belief());
        assertEquals(3, session.status().owed());
        assertTrue(session.status().why().startsWith("3 requests"), session.status().why());
        send(session, 2);
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(0, session.status().owed());
    }

    @Test
    void events_that_were_never_switched_on_are_noticed_by_the_requests() {
        SourceSession session = session(false);
        now += SECOND;
        for (int i = 0; i < 3; i++) {
            session.computed(now);
        }
        now += 11 * SECOND;
        session.tick();
        assertEquals(List.of(EventView.FROZEN), states);
    }

    @Test
    void a_request_during_which_a_batch_came_owes_nothing() {
        SourceSession session = session(false);
        long began = now;
        now += SECOND;
        send(session, 0);
        for (int i = 0; i < 5; i++) {
            session.computed(began);
        }
        now += 20 * SECOND;
        session.tick();
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(0, session.status().owed());
    }

    @Test
    void a_silent_publisher_is_asked_before_it_counts_as_frozen() {
        SourceSession session = session(true);
        send(session, 0, 1);
        now += SECOND;
        for (int i = 0; i < 3; i++) {
            session.computed(now);
        }
        now += 11 * SECOND;
        session.tick();
        assertEquals(List.of(1L), requests);
        assertEquals(EventView.EXACT, session.status().state());
        replay(session, 1, 2);
        session.replayEnded();
        assertEquals(EventView.EXACT, session.status().state(), "only the way here was broken");
        assertEquals(3, depth());
        now += SECOND;
        for (int i = 0; i < 3; i++) {
            session.computed(now);
        }
        now += 11 * SECOND;
        session.tick();
        replay(session, 2);
        session.replayEnded();
        assertEquals(EventView.FROZEN, session.status().state());
    }

    @Test
    void a_lost_connection_ends_belief_until_the_same_process_has_answered() {
        SourceSession session = session(true);
        session.connected();
        session.start();
        replay(session, 0, 1);
        session.replayEnded();
        session.disconnected();
        assertEquals(EventView.GONE, session.status().state());
        assertEquals(Belief.NOTHING, session.status().belief());
        session.connected();
        assertEquals(EventView.REPAIRING, session.status().state());
        assertEquals(1L, requests.getLast());
        replay(session, 1, 2);
        session.replayEnded();
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(3, depth());
    }

    @Test
    void without_replay_a_lost_connection_is_cleared_up_by_the_next_number() {
        SourceSession session = session(false);
        session.connected();
        send(session, 0, 1);
        session.disconnected();
        session.connected();
        assertEquals(EventView.REPAIRING, session.status().state());
        send(session, 2);
        assertEquals(EventView.EXACT, session.status().state(), "nothing was missed");
        session.disconnected();
        session.connected();
        send(session, 9);
        late(session);
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(0, depth());
    }

    @Test
    void an_engine_that_is_not_there_yet_is_being_connected_to() {
        SourceSession session = session(true);
        session.start();
        for (int i = 0; i < 3; i++) {
            now += 6 * SECOND;
            session.tick();
        }
        assertEquals(EventView.CONNECTING, session.status().state());
        session.connected();
        assertEquals(3, requests.size(), "asked at once, not when the next audit is due");
        session.replayEnded();
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void batches_that_wait_to_be_applied_are_told_as_lag() {
        SourceSession session = session(false);
        send(session, 0);
        session.drained(true);
        assertEquals(EventView.EXACT, session.status().state(), "a burst is no lag");
        now += SECOND / 5;
        session.drained(true);
        assertEquals(EventView.LAGGING, session.status().state());
        assertEquals(Belief.PART, session.status().belief());
        session.drained(false);
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void blocks_of_another_size_are_told_with_both_sizes_until_one_fits() {
        SourceSession session = session(false);
        session.live(0, payload(0, WIDE));
        SourceStatus status = session.status();
        assertEquals(EventView.FROZEN, status.state());
        assertTrue(status.why().contains("have 2 tokens, this worker's 1"), status.why());
        session.live(1, payload(0, 0));
        assertEquals(EventView.EXACT, session.status().state());
        session.live(2, payload(0, WIDE));
        assertEquals(EventView.EXACT, session.status().state(), "some group beside the main one");
    }

    /** Blocks 0 to 2 came from batches 0 to 2, told to a process before this one. */
    private SourceMark fromFile() {
        SourceSession before = session(false);
        send(before, 0, 1, 2);
        SourceMark mark = before.mark();
        assertNotNull(mark);
        states.clear();
        return mark;
    }

    private SourceSession resumed(boolean replay) {
        SourceMark mark = fromFile();
        SourceSession session = session(replay);
        session.resume(mark, 600 * SECOND);
        session.start();
        return session;
    }

    @Test
    void nothing_is_marked_before_the_first_batch() {
        assertNull(session(false).mark());
        assertEquals(SourceStatus.NO_SEQUENCE, session(false).status().sequence());
    }

    @Test
    void what_came_from_a_file_counts_in_part_until_the_publisher_has_answered() {
        SourceSession session = resumed(true);
        assertEquals(List.of(2L), requests, "from the last batch of the file on");
        assertEquals(EventView.REPAIRING, session.status().state());
        assertEquals(Belief.PART, session.status().belief());
        assertEquals(
                2, session.status().sequence(), "the newest, though this process has not met it");
        send(session, 5);
        replay(session, 2, 3, 4);
        session.replayEnded();
        assertEquals(6, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(Belief.ALL, session.status().belief());
        assertEquals(0, counters.restarts() + counters.gapsLost());
    }

    @Test
    void another_process_behind_the_same_address_drops_what_came_from_a_file() {
        SourceSession session = resumed(true);
        session.replayed(2, payload(1, 2));
        assertEquals(0, depth(), "the last batch of the file reads differently now");
        assertEquals(List.of(2L, 0L), requests);
        session.replayed(0, payload(1, 0));
        session.replayEnded();
        assertEquals(1, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_process_that_has_not_come_so_far_drops_what_came_from_a_file() {
        SourceSession session = resumed(true);
        session.replayEnded();
        assertEquals(0, depth(), "it must know the batch that the file ends with");
        assertEquals(List.of(2L, 0L), requests);
    }

    @Test
    void a_replay_buffer_that_starts_behind_the_file_drops_what_came_from_it() {
        SourceSession session = resumed(true);
        session.replayed(9, payload(0, 0));
        session.replayEnded();
        assertEquals(1, depth(), "what was removed in between is not known");
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(1, session.status().lost());
    }

    @Test
    void an_unanswered_replay_leaves_the_file_in_doubt_and_is_tried_until_it_expires() {
        SourceSession session = resumed(true);
        now += 6 * SECOND;
        session.tick();
        now += 6 * SECOND;
        session.tick();
        assertFalse(session.replaying());
        send(session, 3);
        assertEquals(EventView.REPAIRING, session.status().state(), "it may be another's number 3");
        for (int i = 0; i < 31; i++) {
            now += SECOND;
            send(session, 4 + i);
            session.tick();
        }
        assertTrue(requests.size() > 2, "asked again although it is not silent");
        now += 600 * SECOND;
        session.tick();
        now += 6 * SECOND;
        session.tick();
        session.tick();
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(0, depth());
    }

    @Test
    void without_a_replay_socket_a_file_stays_in_doubt_until_a_clear() {
        SourceSession session = resumed(false);
        send(session, 3, 4);
        assertEquals(5, depth());
        assertEquals(Belief.PART, session.status().belief());
        session.live(5, payload(0, CLEAR));
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void forgetting_reaches_blocks_that_only_the_file_has_told() {
        SourceSession session = resumed(false);
        send(session, 9);
        late(session);
        assertEquals(0, depth());
        assertEquals(EventView.GAP, session.status().state());
    }

    @Test
    void a_source_that_was_given_up_is_gone_and_says_why() {
        SourceSession session = session(false);
        send(session, 0);
        session.close("the index is closed");
        assertEquals(EventView.GONE, session.status().state());
        assertEquals("the index is closed", session.status().why());
    }

    @Test
    void sequences_beyond_the_sign_bit_are_in_order() {
        SourceSession session = session(false);
        session.live(Long.MAX_VALUE, payload(0, 0));
        session.live(Long.MIN_VALUE, payload(0, 1));
        assertEquals(2, depth());
        assertEquals(0, counters.gaps() + counters.restarts());
    }

    private SourceSession session(boolean replay) {
        EventSource source =
                new EventSource("w", 0, List.of(slot), "inproc://x", false, null, "", 1);
        return new SourceSession(
                source,
                index,
                SourceSessionTest::decode,
                counters,
                replay ? requests::add : null,
                (before, status) -> states.add(status.state()),
                new SourceSession.Timing(5 * SECOND, 30 * SECOND, 10 * SECOND),
                () -> now);
    }

    /** What was overtaken has had its time. */
    private void late(SourceSession session) {
        now += SECOND;
        session.tick();
    }

    private static void send(SourceSession session, int... batches) {
        for (int b : batches) {
            session.live(b, payload(0, b));
        }
    }

    private static void replay(SourceSession session, int... batches) {
        for (int b : batches) {
            session.replayed(b, payload(0, b));
        }
    }

    /** {@code epoch} tells two processes apart, as the timestamp does in real payloads. */
    private static byte[] payload(int epoch, int block) {
        return ByteBuffer.allocate(8).putInt(epoch).putInt(block).array();
    }

    private static KvBatch decode(byte[] payload) throws MalformedBatchException {
        ByteBuffer in = ByteBuffer.wrap(payload);
        int epoch = in.getInt();
        int block = in.getInt();
        if (block == BROKEN) {
            throw new MalformedBatchException("made broken");
        }
        KvEvent event =
                switch (block) {
                    case CLEAR -> new KvEvent.Cleared();
                    case WIDE ->
                            new KvEvent.Stored(
                                    new long[] {77, 78},
                                    false,
                                    0,
                                    new int[] {1, 2, 3, 4},
                                    false,
                                    2,
                                    "GPU",
                                    null,
                                    false,
                                    null,
                                    2,
                                    null,
                                    KvEvent.Scope.NONE);
                    default -> stored(block, block == 0 ? null : block);
                };
        return new KvBatch(epoch, 0, List.of(event), 0, 0);
    }

    private static KvEvent stored(int block, @Nullable Integer parent) {
        return new KvEvent.Stored(
                new long[] {block + 1L},
                parent != null,
                parent == null ? 0 : parent,
                new int[] {block},
                false,
                1,
                "GPU",
                null,
                false,
                null,
                1,
                null,
                KvEvent.Scope.NONE);
    }

    private int depth() {
        int[] prompt = new int[32];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i;
        }
        PrefixMatch match =
                index.match(new PrefixQuery(prompt, prompt.length, 1, PrefixSpace.NONE));
        return match.depth(slot, Tier.GPU);
    }
}
