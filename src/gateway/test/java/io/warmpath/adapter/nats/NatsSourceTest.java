package io.warmpath.adapter.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.BatchSink;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceSession;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.WorkerSlot;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a source makes of a stream whose order the relay's second tries have spoilt. */
class NatsSourceTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long PROCESS = 7;

    private final List<Long> taken = new ArrayList<>();
    private final List<Long> asked = new ArrayList<>();
    private int forgotten;
    private boolean reading = true;
    private long now;
    private long at;
    private NatsSource source;

    @BeforeEach
    void open() {
        BatchSink sink =
                new BatchSink() {
                    @Override
                    public Effect take(long sequence, byte[] payload) {
                        taken.add(sequence);
                        return Effect.APPLIED;
                    }

                    @Override
                    public void forget(boolean restarted) {
                        forgotten++;
                    }
                };
        EventCounters counters = new EventCounters();
        EventSource of =
                new EventSource("w", 0, List.of(new WorkerSlot(1)), "nats", false, null, "", 1);
        source =
                new NatsSource(
                        of,
                        counters,
                        asked::add,
                        () -> reading,
                        60 * SECOND,
                        0,
                        link ->
                                new SourceSession(
                                        of,
                                        sink,
                                        counters,
                                        link,
                                        (before, status) -> {},
                                        new SourceSession.Timing(
                                                5 * SECOND, 1_000 * SECOND, 1_000 * SECOND),
                                        () -> now));
        source.linked(true, 0);
        source.alive(Envelope.alive(PROCESS, 0, 0, true, false).encoded(), 0, false);
    }

    private static byte[] batch(long sequence) {
        return ByteBuffer.allocate(8).putLong(sequence).array();
    }

    private void stored(long... sequences) {
        for (long s : sequences) {
            source.stored(++at, Envelope.batches(PROCESS, s, 0, 0, List.of(batch(s))).encoded());
        }
    }

    /** The relay's ring is new: it has nothing of what is asked for. */
    private void relayHasNothing() {
        source.answer(Envelope.end(PROCESS, 0).encoded());
    }

    private static List<Long> upTo(long n) {
        List<Long> all = new ArrayList<>();
        for (long i = 0; i < n; i++) {
            all.add(i);
        }
        return all;
    }

    @Test
    void a_message_that_stands_behind_later_ones_is_taken_from_the_stream() {
        stored(0, 1, 3, 5, 4);
        assertEquals(List.of(), asked, "the stream has more");
        stored(2, 6);
        assertEquals(upTo(7), taken);
        assertEquals(0, forgotten);
        assertEquals(EventView.EXACT, source.session().status().state());
    }

    @Test
    void whatever_the_order_within_the_relays_window_nothing_is_lost_or_asked_for() {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        System.out.println("NatsSourceTest -Dwarmpath.test.seed=" + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            taken.clear();
            open();
            at = 0;
            List<Long> order = new ArrayList<>(upTo(300));
            for (int from = 1; from < 240; from += 60) {
                if (random.nextBoolean()) {
                    Collections.shuffle(order.subList(from, from + 60), random);
                }
            }
            order.forEach(this::stored);
            assertEquals(upTo(300), taken, () -> "of " + order);
        }
        assertEquals(List.of(), asked);
        assertEquals(0, forgotten);
    }

    @Test
    void after_nats_was_away_nothing_is_exact_before_the_relay_has_been_heard() {
        stored(0, 1);
        source.linked(false, 0);
        source.linked(true, 0);
        assertNotEquals(EventView.EXACT, source.session().status().state());
        source.alive(Envelope.alive(PROCESS, 2, 0, true, true).encoded(), 0, false);
        assertNotEquals(EventView.EXACT, source.session().status().state(), "it still sends");
        source.alive(Envelope.alive(PROCESS, 2, 0, true, false).encoded(), 0, false);
        assertEquals(EventView.EXACT, source.session().status().state());
        source.linked(true, 0); // lost and back before anybody looked
        assertNotEquals(EventView.EXACT, source.session().status().state());
    }

    @Test
    void what_is_not_in_the_stream_is_asked_of_the_relay_when_it_has_been_read() {
        stored(0, 1, 3, 4);
        source.tick(now, true);
        assertEquals(List.of(), asked);
        reading = false;
        source.tick(now, true);
        assertEquals(List.of(1L), asked);
        source.answer(Envelope.batches(PROCESS, 1, 0, 0, List.of(batch(1), batch(2))).encoded());
        source.answer(Envelope.end(PROCESS, 1).encoded());
        assertEquals(upTo(5), taken);
        assertEquals(EventView.EXACT, source.session().status().state());
    }

    @Test
    void more_than_the_relays_window_is_not_waited_for() {
        stored(0, 2);
        for (long i = 3; asked.isEmpty() && i < 200; i++) {
            stored(i);
        }
        assertEquals(List.of(0L), asked);
        assertEquals(RelayLane.WINDOW + 1, source.session().waiting());
        relayHasNothing();
        assertEquals(1, forgotten, "a hole is never hidden");
        TreeSet<Long> want = new TreeSet<>(upTo(67));
        want.remove(1L);
        assertEquals(new ArrayList<>(want), taken);
    }

    @Test
    void what_comes_while_the_relay_is_asked_closes_the_hole_before_it_answers() {
        reading = false;
        stored(0, 2, 3);
        assertEquals(List.of(0L), asked);
        stored(1);
        assertEquals(upTo(4), taken);
        relayHasNothing();
        assertEquals(0, forgotten);
        assertTrue(
                source.session().status().state() == EventView.EXACT, source.session()::toString);
    }

    /** Sixty thousand pieces of a megabyte are announced. */
    @Test
    void a_batch_in_pieces_without_end_is_let_go() {
        byte[] piece = new byte[1 << 20];
        for (int i = 0; i < 70; i++) {
            source.stored(
                    ++at,
                    new Envelope(
                                    Envelope.Kind.PART,
                                    PROCESS,
                                    0,
                                    0,
                                    0,
                                    (i << 16) | 60_000,
                                    List.of(piece))
                            .encoded());
            assertTrue(source.pieces() <= 64 << 20, source.pieces() + " bytes are kept");
        }
        assertEquals(0, source.pieces());
        stored(0, 1);
        assertEquals(upTo(2), taken);
    }
}
