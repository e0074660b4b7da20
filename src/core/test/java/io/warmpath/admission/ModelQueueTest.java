package io.warmpath.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.admission.ModelQueue.Entry;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ModelQueueTest {
    private final AtomicLong nanos = new AtomicLong();
    private final LoadTracker loads = new LoadTracker();
    private final List<Candidate> both = List.of(worker(0, 1000), worker(1, 0));
    private final List<String> started = new ArrayList<>();

    private static Candidate worker(int id, int batch) {
        Worker.Rank rank = new Worker.Rank(0, new WorkerSlot(id));
        Worker worker =
                Worker.builder(id, "w" + id, URI.create("http://w" + id))
                        .kind(EngineKind.VLLM)
                        .models(Set.of("m"))
                        .blockSize(16)
                        .ranks(List.of(rank))
                        .capacity(new Capacity(batch, 100))
                        .build();
        return new Candidate(worker, 0, rank.slot());
    }

    private ModelQueue queue(Policies policies) {
        return new ModelQueue(policies, loads, 2000, nanos::get);
    }

    private LoadBook.Booking load(int slot, int tokens) {
        return loads.book(new WorkerSlot(slot), tokens, 1);
    }

    private Claim claim(List<Candidate> eligible) {
        return new Claim(Tenant.NOBODY, "", 10, 0, 0, 0, () -> eligible);
    }

    private Ticket wait(ModelQueue queue, String name) {
        nanos.addAndGet(1_000_000_000);
        Entry entry = queue.enter(claim(both), 2, () -> started.add(name));
        return assertInstanceOf(Entry.Waiting.class, entry).ticket();
    }

    @Test
    void a_request_waits_while_every_rank_is_over_its_fraction() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0.5, PolicyClass.NO_LIMIT));
        load(0, 501); // of 1000, which the engine told
        LoadBook.Booking second = load(1, 1000); // of 2000, the default: not over
        assertInstanceOf(Entry.Admitted.class, q.enter(claim(both), 2, () -> {}));
        LoadBook.Booking third = load(1, 1);
        Ticket ticket = wait(q, "a");
        q.wake();
        assertEquals(List.of(), started);
        assertEquals(1, q.size());
        third.firstToken();
        q.wake();
        assertEquals(List.of("a"), started);
        q.started(ticket);
        assertEquals(0, q.size());
        second.close();
    }

    @Test
    void at_threshold_0_any_prefill_makes_a_request_wait() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0, PolicyClass.NO_LIMIT));
        load(0, 1);
        assertInstanceOf(Entry.Admitted.class, q.enter(claim(both), 2, () -> {}));
        load(1, 1);
        wait(q, "a");
        assertEquals(List.of(), started);
    }

    /** Only what has started is booked, so the next one has to wait for that. */
    @Test
    void one_request_at_a_time_leaves_and_the_next_sees_its_load() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0, PolicyClass.NO_LIMIT));
        LoadBook.Booking first = load(0, 1);
        load(1, 1);
        Ticket a = wait(q, "a");
        Ticket b = wait(q, "b");
        first.firstToken();
        q.wake();
        q.wake();
        assertEquals(List.of("a"), started);
        LoadBook.Booking booked = load(0, 10);
        q.started(a);
        assertEquals(List.of("a"), started);
        booked.firstToken();
        q.wake();
        assertEquals(List.of("a", "b"), started);
        q.started(b);
    }

    @Test
    void who_leaves_is_not_started_and_who_was_told_to_start_has_to_say_so() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0, PolicyClass.NO_LIMIT));
        LoadBook.Booking first = load(0, 1);
        load(1, 1);
        Ticket a = wait(q, "a");
        Ticket b = wait(q, "b");
        Ticket c = wait(q, "c");
        assertTrue(q.leave(a));
        assertFalse(q.leave(a));
        first.close();
        q.wake();
        assertEquals(List.of("b"), started);
        assertFalse(q.leave(b));
        q.started(a); // not the one that starts: means nothing
        assertEquals(List.of("b"), started);
        q.started(b);
        assertEquals(List.of("b", "c"), started);
        q.started(c);
        assertEquals(0, q.size());
    }

    @Test
    void a_full_queue_refuses_and_names_the_limit() {
        PolicyClass limited =
                new PolicyClass(
                        "small",
                        "small",
                        "",
                        QueuePolicy.FCFS,
                        1,
                        new PolicyClass.Threshold(0, false),
                        1,
                        PolicyClass.NO_LIMIT,
                        PolicyClass.NO_LIMIT);
        ModelQueue q = queue(new Policies("small", List.of(), List.of(limited)));
        load(0, 1);
        load(1, 1);
        wait(q, "a");
        wait(q, "b");
        assertEquals(new Entry.Full("small", "requests"), q.enter(claim(both), 2, () -> {}));
    }

    private Claim claim(String tenant, int weight) {
        return new Claim(new Tenant(tenant, weight), "", 10, 0, 0, 0, () -> both);
    }

    private Entry enter(ModelQueue queue, String tenant, int weight) {
        nanos.addAndGet(1_000_000_000);
        return queue.enter(claim(tenant, weight), 2, () -> started.add(tenant));
    }

    /** Of 12 places: 6 for who is alone, 3 of the other 6 for the second, and so on. */
    @Test
    void one_tenant_does_not_fill_the_queue() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0, 6));
        load(0, 1);
        load(1, 1);
        for (int i = 0; i < 6; i++) {
            assertInstanceOf(Entry.Waiting.class, enter(q, "hog", 1));
        }
        assertEquals(new Entry.OverShare(6_000_000_000L), enter(q, "hog", 1));
        for (int i = 0; i < 3; i++) {
            assertInstanceOf(Entry.Waiting.class, enter(q, "a", 1));
        }
        assertEquals(new Entry.OverShare(3_000_000_000L), enter(q, "a", 1));
        for (int i = 0; i < 2; i++) {
            assertInstanceOf(Entry.Waiting.class, enter(q, "heavy", 2));
        }
        assertEquals(new Entry.OverShare(2_000_000_000L), enter(q, "heavy", 2));
        assertInstanceOf(Entry.Waiting.class, enter(q, "b", 1));
        assertEquals(new Entry.Full("default", "requests"), enter(q, "c", 1));
        assertEquals(
                List.of("hog:6:1", "a:3:1", "heavy:2:1", "b:1:0"),
                q.shares(9).get("default").stream()
                        .map(s -> s.tenant() + ":" + s.waiting() + ":" + s.refused())
                        .toList());
    }

    @Test
    void an_answer_is_charged_to_its_tenant() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0, 6));
        ModelQueue.Account account =
                assertInstanceOf(Entry.Admitted.class, enter(q, "a", 1)).account();
        LoadBook.Booking all = load(0, 1);
        load(1, 1);
        Ticket a = assertInstanceOf(Entry.Waiting.class, enter(q, "a", 1)).ticket();
        Ticket b = assertInstanceOf(Entry.Waiting.class, enter(q, "b", 1)).ticket();
        account.answered(-1);
        account.answered(1);
        all.close();
        q.wake();
        assertEquals(List.of("b"), started);
        q.started(b);
        q.started(a);
        assertEquals(List.of("b", "a"), started);
    }

    /** Of 1,000 and 2,000 tokens a step, half for who comes seldom, and an eighth of that. */
    @Test
    void who_sends_seldom_finds_room_where_who_sends_most_has_to_wait() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0.5, 60));
        assertInstanceOf(Entry.Admitted.class, enter(q, "a", 1));
        LoadBook.Booking full = load(0, 501);
        load(1, 1001);
        Ticket hog = assertInstanceOf(Entry.Waiting.class, enter(q, "hog", 1)).ticket();
        assertInstanceOf(Entry.Waiting.class, enter(q, "hog", 1));
        full.close();
        LoadBook.Booking some = load(0, 63); // an eighth of 500 is 62.5
        q.wake();
        assertEquals(List.of("hog"), started, "its first, as it did not wait before");
        q.started(hog);
        assertEquals(List.of("hog"), started);
        Ticket a = assertInstanceOf(Entry.Waiting.class, enter(q, "a", 1)).ticket();
        assertEquals(List.of("hog", "a"), started);
        q.started(a);
        assertEquals(List.of("hog", "a"), started);
        some.close();
        load(0, 62);
        q.wake();
        assertEquals(List.of("hog", "a", "hog"), started);
    }

    @Test
    void one_tenant_alone_is_ahead_of_nobody_and_two_are_until_one_is_silent() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0.5, 60));
        load(0, 400);
        load(1, 1001);
        assertInstanceOf(Entry.Admitted.class, enter(q, "a", 1));
        assertInstanceOf(Entry.Admitted.class, enter(q, "a", 1));
        Ticket b = assertInstanceOf(Entry.Waiting.class, enter(q, "b", 1)).ticket();
        assertEquals(List.of("b"), started, "400 of 500 is above an eighth, but it is its turn");
        q.started(b);
        nanos.addAndGet(ModelQueue.CONTENDED_NANOS);
        assertInstanceOf(Entry.Admitted.class, enter(q, "b", 1));
    }

    @Test
    void a_request_waits_while_running_ones_fill_the_memory() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0.5, 6));
        loads.book(new WorkerSlot(0), 0, 101); // of 100 blocks
        LoadBook.Booking other = loads.book(new WorkerSlot(1), 0, 101);
        Ticket a = wait(q, "a");
        assertEquals(List.of(), started);
        other.close();
        q.wake();
        assertEquals(List.of("a"), started);
        q.started(a);
        PolicyClass.Threshold never = PolicyClass.Threshold.NEVER;
        assertFalse(never.exceeded(loads.load(new WorkerSlot(0)), both.getFirst().worker(), 1));
    }

    @Test
    void when_nobody_serves_the_model_any_more_there_is_nothing_to_wait_for() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0, PolicyClass.NO_LIMIT));
        assertInstanceOf(Entry.Admitted.class, q.enter(claim(null), 1, () -> {}));
        assertInstanceOf(Entry.Waiting.class, q.enter(claim(List.of()), 1, () -> {}));
    }

    @Test
    void busy_ranks_are_left_out_and_thresholds_change_while_running() {
        Admission admission = new Admission(AdmissionOptions.OFF, loads, nanos::get);
        load(0, 600);
        assertEquals(both, admission.free("m", both));
        admission.busy(
                "m",
                new BusyThresholds(
                        OptionalDouble.empty(), OptionalLong.empty(), OptionalDouble.of(0.5)));
        assertEquals(List.of(both.get(1)), admission.free("m", both));
        assertEquals(both, admission.free("other", both));
        loads.book(new WorkerSlot(1), 0, 51);
        admission.busy(
                "m",
                new BusyThresholds(
                        OptionalDouble.of(0.5), OptionalLong.of(599), OptionalDouble.empty()));
        assertEquals(List.of(), admission.free("m", both));
        admission.busy("m", BusyThresholds.NONE);
        assertEquals(both, admission.free("m", both));
    }

    /**
     * Four threads enter, start, finish and leave; nobody is forgotten and the queue runs empty.
     */
    @Test
    void nobody_is_lost_between_threads() throws Exception {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0, PolicyClass.NO_LIMIT));
        AtomicInteger done = new AtomicInteger();
        int threads = 4;
        int each = 3000;
        try (ExecutorService pool = Executors.newFixedThreadPool(threads);
                ExecutorService loop = Executors.newSingleThreadExecutor()) {
            List<Future<?>> running = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int number = t;
                running.add(
                        pool.submit(
                                () -> {
                                    for (int i = 0; i < each; i++) {
                                        enter(q, number % 2, i % 7 == 0, loop, done);
                                    }
                                }));
            }
            for (Future<?> r : running) {
                r.get();
            }
            long deadline = System.nanoTime() + 20_000_000_000L;
            while (done.get() < threads * each && System.nanoTime() < deadline) {
                q.wake();
                Thread.onSpinWait();
            }
        }
        assertEquals(threads * each, done.get());
        assertEquals(0, q.size());
        assertEquals(0, loads.open());
    }

    private void enter(
            ModelQueue q, int slot, boolean leaves, ExecutorService loop, AtomicInteger done) {
        Ticket[] mine = new Ticket[1];
        Runnable run =
                () -> {
                    LoadBook.Booking booking = load(slot, 5);
                    synchronized (mine) {
                        if (mine[0] != null) {
                            q.started(mine[0]);
                        }
                    }
                    booking.firstToken();
                    booking.close();
                    q.wake();
                    done.incrementAndGet();
                };
        synchronized (mine) {
            switch (q.enter(claim(both), 2, () -> loop.execute(run))) {
                case Entry.Admitted now -> run.run();
                case Entry.Waiting waiting -> {
                    mine[0] = waiting.ticket();
                    if (leaves && q.leave(mine[0])) {
                        done.incrementAndGet();
                    }
                }
                case Entry.Full full -> throw new IllegalStateException(full.toString());
                case Entry.OverShare over -> throw new IllegalStateException(over.toString());
            }
        }
    }
}
