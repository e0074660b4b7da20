package io.warmpath.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.load.LoadBook;
import io.warmpath.load.PromptBlocks;
import io.warmpath.load.WorkerLoad;
import io.warmpath.replica.ReplicaCounters.Count;
import io.warmpath.replica.Replicas.Gateway;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReplicaSyncTest {
    private final Replicas net = new Replicas(7);
    private final Gateway a = net.join(1);
    private final Gateway b = net.join(2);

    private LoadBook.Booking book(Gateway g, int worker, int tokens) {
        return g.load.book(g.slot(worker), tokens, PromptBlocks.unnamed(16, tokens), 0);
    }

    private static int requests(Gateway g, int worker) {
        return g.load.load(g.slot(worker)).requests();
    }

    private static long count(Gateway g, Count what) {
        return g.sync.counters().get(what);
    }

    @Test
    void a_request_is_part_of_the_others_load_from_its_booking_to_its_end() {
        net.run(50);
        LoadBook.Booking booking = book(a, 2, 160);
        net.run(3);
        assertEquals(new WorkerLoad(160, 10, 1), b.load.load(b.slot(2)));
        assertEquals(0, b.load.open(), "own ones only");
        assertEquals(0, b.load.ownRequests(b.slot(2)));
        assertEquals(1, a.load.ownRequests(a.slot(2)));
        booking.firstToken();
        net.run(3);
        assertEquals(new WorkerLoad(0, 10, 1), b.load.load(b.slot(2)));
        booking.progress(17, 0.5);
        net.run(3);
        assertEquals(new WorkerLoad(0, 6, 1), b.load.load(b.slot(2)), "12 blocks at one half");
        booking.close();
        net.run(3);
        assertEquals(WorkerLoad.IDLE, b.load.load(b.slot(2)));
        assertEquals(List.of(), net.warnings);
    }

    @Test
    void the_half_that_computes_a_prompt_for_another_worker_is_told_with_its_one_token() {
        net.run(50);
        PromptBlocks prompt = PromptBlocks.unnamed(16, 160);
        LoadBook.Booking prefill = a.load.book(a.slot(1), 160, prompt, 1);
        net.run(3);
        assertEquals(1, b.peersOutput);
        LoadBook.Booking decode = a.load.book(a.slot(2), 0, prompt, 0);
        net.run(3);
        assertEquals(0, b.peersOutput);
        assertEquals(new WorkerLoad(160, 10, 1), b.load.load(b.slot(1)));
        assertEquals(new WorkerLoad(0, 10, 1), b.load.load(b.slot(2)));
        prefill.close();
        decode.close();
        net.run(3);
        assertEquals(WorkerLoad.IDLE, b.load.load(b.slot(1)));
        assertEquals(WorkerLoad.IDLE, b.load.load(b.slot(2)));
    }

    @Test
    void those_that_count_have_a_place_each() {
        Gateway negative = net.join(-5); // ids are hashes: in the order of unsigned numbers
        net.run(60);
        assertEquals(
                List.of("0 of 3", "1 of 3", "2 of 3"), List.of(a.among, b.among, negative.among));
        a.stoppedUntil = net.millis + 300;
        net.run(200);
        assertEquals(List.of("0 of 2", "1 of 2"), List.of(b.among, negative.among));
        net.run(200);
        assertEquals("1 of 3", b.among);
        b.sync.close();
        negative.sync.close();
        net.kill(b);
        net.kill(negative);
        net.run(20);
        assertEquals("0 of 1", a.among);
    }

    @Test
    void a_prefix_that_runs_behind_two_gateways_counts_once() {
        net.run(50);
        int[] tokens = IntStream.range(0, 160).toArray();
        a.load.book(a.slot(1), 160, a.load.name("m", "", tokens, 16), 0);
        net.run(3);
        PromptBlocks same = b.load.name("m", "", Arrays.copyOf(tokens, 128), 16);
        assertEquals(8, b.load.potential(List.of(same)).shared(b.slot(1)));
        b.load.book(b.slot(1), 0, same, 0);
        net.run(3);
        assertEquals(10, a.load.load(a.slot(1)).blocks());
        assertEquals(10, b.load.load(b.slot(1)).blocks());
    }

    @Test
    void a_gateway_that_starts_later_learns_what_runs() {
        book(a, 0, 16);
        book(b, 1, 16);
        net.run(50);
        Gateway late = net.join(3);
        net.run(60);
        assertEquals(1, requests(late, 0));
        assertEquals(1, requests(late, 1));
    }

    @Test
    void a_peer_that_falls_silent_stops_to_count_own_load_stays_and_it_comes_back() {
        book(a, 0, 16);
        book(b, 0, 16);
        net.run(50);
        assertEquals(2, requests(b, 0));
        a.stoppedUntil = net.millis + 300;
        net.run(60);
        assertEquals(2, requests(b, 0), "not before its time");
        net.run(60);
        assertEquals(1, requests(b, 0), "its own is left");
        assertFalse(b.peer(1).counted());
        assertEquals(1, b.peer(1).dropouts());
        net.run(300);
        assertEquals(2, requests(b, 0));
        assertTrue(b.peer(1).counted());
        assertEquals(List.of(), net.warnings, "a busy machine does that");
    }

    private List<String> told(List<String> lines) {
        return lines.stream().filter(w -> w.startsWith("2: ")).toList();
    }

    @Test
    void a_lag_that_lasts_is_told_once_and_so_is_its_end() {
        book(a, 0, 16);
        net.run(50);
        net.infos.clear();
        a.stoppedUntil = net.millis + 5_000;
        net.run(1_000);
        assertEquals(List.of(), told(net.warnings));
        net.run(4_000);
        assertEquals(1, told(net.warnings).size(), net.warnings.toString());
        String told = told(net.warnings).getFirst();
        assertTrue(told.contains("nothing was heard of it for 1"), told);
        assertTrue(told.contains("100 ms may be (warmpath.replica.max-age)"), told);
        net.run(3_000);
        assertEquals(List.of(), told(net.infos), "it has to last, too");
        net.run(3_000);
        assertEquals(1, told(net.infos).size(), net.infos.toString());
        assertTrue(told(net.infos).getFirst().endsWith("counts here again."));
        assertEquals(1, told(net.warnings).size(), net.warnings.toString());
    }

    /** Each of them shorter than what is worth a word. */
    @Test
    void drop_outs_that_come_again_and_again_are_told_once() {
        net.run(50);
        for (int i = 0; i < 20; i++) {
            a.stoppedUntil = net.millis + 300;
            net.run(400);
        }
        assertTrue(b.peer(1).dropouts() > 10, b.peer(1).toString());
        assertEquals(1, told(net.warnings).size(), net.warnings.toString());
        assertTrue(told(net.warnings).getFirst().contains("does not count here most of the time"));
    }

    /** Heartbeats come as often as before, but what they say is old. */
    @Test
    void steady_news_that_take_too_long_do_not_count() {
        book(a, 0, 16);
        net.run(100);
        assertEquals(1, requests(b, 0));
        net.delayMillis = 150;
        net.run(400);
        assertTrue(b.peer(1).silentNanos() < 50 * Replicas.MILLI, "it is heard all the time");
        assertFalse(b.peer(1).counted());
        assertEquals(0, requests(b, 0));
        net.delayMillis = 0;
        net.run(400);
        assertEquals(1, requests(b, 0));
    }

    /** The claim of {@link ReplicaOptions#maxAge}, against what really was the case. */
    @Test
    void what_counts_of_a_peer_was_true_within_the_last_hundred_milliseconds() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        Deque<Integer> past = new ArrayDeque<>();
        List<LoadBook.Booking> running = new ArrayList<>();
        net.run(50);
        int old = 0;
        for (int step = 0; step < 6_000; step++) {
            if (step % 200 == 0) {
                net.delayMillis = random.nextInt(4) == 0 ? random.nextInt(150) : 0;
                a.wayOutMillis = random.nextInt(4) == 0 ? random.nextInt(200) : 0;
                if (random.nextInt(4) == 0) {
                    a.stoppedUntil = net.millis + random.nextInt(200);
                }
            }
            if (net.millis >= a.stoppedUntil) {
                if (running.size() > 20 && random.nextBoolean()) {
                    running.remove(random.nextInt(running.size())).close();
                } else {
                    running.add(book(a, 0, 16));
                }
            }
            past.addLast(running.size());
            if (past.size() > 102) { // 100, and a look at the ages each millisecond
                past.removeFirst();
            }
            net.run(1);
            if (b.peer(1).counted() && requests(b, 0) > 0) {
                assertTrue(
                        past.contains(requests(b, 0)),
                        "seed " + seed + " step " + step + ": " + requests(b, 0) + " in " + past);
                old += requests(b, 0) != running.size() ? 1 : 0;
            }
        }
        assertTrue(old > 100, "the line was never slow enough to show anything: " + old);
    }

    @Test
    void a_gateway_that_leaves_counts_no_longer_at_once_and_a_dead_one_is_forgotten() {
        book(a, 0, 16);
        net.run(50);
        a.sync.close();
        net.kill(a);
        net.run(2);
        assertEquals(0, requests(b, 0));
        assertEquals(List.of(), b.sync.peers().stream().filter(PeerStatus::counted).toList());
        Gateway again = net.join(1);
        book(again, 1, 16);
        net.run(50);
        assertEquals(1, requests(b, 1));
        net.kill(again);
        net.run(30_200);
        assertEquals(List.of(), b.sync.peers());
    }

    @Test
    void changes_that_find_no_place_are_found_by_looking_at_all_bookings() {
        Gateway small = net.join(3, 8);
        net.run(50);
        List<LoadBook.Booking> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(book(small, 0, 16));
        }
        assertTrue(small.sync.dropped() > 0);
        net.run(3);
        assertEquals(100, requests(a, 0));
        all.forEach(LoadBook.Booking::close);
        net.run(3);
        assertEquals(0, requests(a, 0));
    }

    @Test
    void a_lost_message_is_noticed_and_the_whole_state_asked_for() {
        net.run(50);
        net.drop = 1;
        LoadBook.Booking lost = book(a, 0, 16);
        net.run(2);
        net.drop = 0;
        net.run(30);
        assertEquals(1, requests(b, 0));
        assertTrue(b.peer(1).lost() > 0 && b.peer(1).resyncs() == 1, b.peer(1).toString());
        net.drop = 1;
        lost.close();
        net.run(2);
        net.drop = 0;
        net.run(80);
        assertEquals(0, requests(b, 0));
        assertEquals(List.of(), net.warnings);
    }

    @Test
    void a_new_process_of_a_worker_has_nothing_of_the_old_one() {
        book(a, 0, 16);
        book(b, 0, 16);
        net.run(50);
        b.restart(0); // it noticed first
        net.run(30);
        assertEquals(0, requests(b, 0));
        assertEquals(1, requests(a, 0), "its own: it has not noticed");
        book(b, 0, 16);
        net.run(30);
        assertEquals(2, requests(a, 0));
        assertEquals(1, requests(b, 0));
        a.restart(0);
        net.run(30);
        book(a, 0, 16);
        net.run(30);
        assertEquals(2, requests(b, 0));
    }

    @Test
    void a_worker_that_is_not_known_yet_gets_its_load_when_it_is() {
        b.knows(3, false);
        book(a, 3, 16);
        net.run(1_100);
        assertEquals(1, b.peer(1).unplaced());
        b.knows(3, true);
        net.run(2);
        assertEquals(1, requests(b, 3));
    }

    @Test
    void two_gateways_of_one_name_are_told_of_and_do_not_mix() {
        Gateway twin = net.join(2);
        book(twin, 0, 16);
        net.run(100);
        assertEquals(0, requests(b, 0));
        assertTrue(count(b, Count.SAME_ROUTER) > 0);
        assertEquals(2, net.warnings.stream().filter(w -> w.contains("calls itself gw2")).count());
    }

    @Test
    void without_a_line_each_goes_on_alone_and_says_so_once() {
        book(a, 0, 16);
        book(b, 0, 16);
        net.run(50);
        net.up = false;
        net.run(3_000);
        assertEquals(1, requests(a, 0));
        assertEquals(1, requests(b, 0));
        assertEquals(2, net.warnings.size(), net.warnings.toString());
        book(a, 0, 16);
        net.up = true;
        net.run(100);
        assertEquals(3, requests(a, 0));
        assertEquals(3, requests(b, 0));
        assertEquals(2, net.warnings.size(), net.warnings.toString());
    }

    @Test
    void other_versions_and_kinds_are_counted_and_leave_no_gap() {
        net.run(50);
        byte[] message = new byte[Wire.HEADER];
        message[0] = 'W';
        message[1] = 'R';
        message[2] = 2;
        b.sync.received(message);
        assertEquals(1, count(b, Count.OTHER_VERSION));
        MessageWriter other = new MessageWriter(100);
        other.begin((byte) 7);
        other.seal(5, 1, 1);
        b.sync.received(Arrays.copyOf(other.bytes(), other.length()));
        assertEquals(1, count(b, Count.OTHER_KIND));
        other.begin(Wire.HEARTBEAT);
        other.heartbeat(0, 0, "five");
        other.seal(5, 1, 2);
        b.sync.received(Arrays.copyOf(other.bytes(), other.length()));
        assertEquals(0, count(b, Count.LOST));
        net.run(15);
        assertEquals("five", b.peer(5).name());
        assertFalse(b.peer(5).counted(), "it has not heard this one");
    }

    /** Whatever comes: no exception, and no load that nobody has. */
    @Test
    void damaged_messages_are_refused() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        List<byte[]> sent = new ArrayList<>();
        Replicas other = new Replicas(seed);
        Gateway from = other.join(4);
        Gateway to = other.join(5);
        for (int i = 0; i < 200; i++) {
            book(from, random.nextInt(4), 16 * random.nextInt(50));
        }
        MessageWriter out = new MessageWriter(1 << 12);
        for (int i = 0; i < 50; i++) {
            from.load.forEachOpen(
                    x -> {
                        if (random.nextInt(20) == 0) {
                            out.begin(random.nextBoolean() ? Wire.CHANGES : Wire.STATE);
                            if (random.nextBoolean()) {
                                out.stateFlags(3);
                            }
                            out.add(
                                    new AnnouncedBooking(
                                            x,
                                            new Ranks.Place(new PeerRank(1, 0), x.slot(), 1),
                                            random.nextInt(50)));
                            out.free(random.nextInt(50));
                            out.grown(random.nextInt(50), random.nextInt(99), 1 << 15);
                            out.seal(9, 1, random.nextInt(9_000));
                            sent.add(Arrays.copyOf(out.bytes(), out.length()));
                        }
                    });
        }
        for (byte[] message : sent) {
            for (int i = 0; i < 40; i++) {
                byte[] bad = Arrays.copyOf(message, random.nextInt(message.length + 1));
                for (int flips = random.nextInt(4); flips > 0 && bad.length > 0; flips--) {
                    bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
                }
                to.sync.received(bad);
            }
        }
        assertTrue(count(to, Count.MALFORMED) > 1_000, "seed " + seed);
        other.run(30_500);
        for (int w = 0; w < Replicas.WORKERS; w++) {
            assertEquals(requests(from, w), requests(to, w), "seed " + seed);
            assertTrue(to.load.load(to.slot(w)).prefillTokens() >= 0, "seed " + seed);
        }
    }
}
