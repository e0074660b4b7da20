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
        return new Claim("", 10, 0, 0, 0, () -> eligible);
    }

    private Ticket wait(ModelQueue queue, String name) {
        nanos.addAndGet(1_000_000_000);
        Entry entry = queue.enter(claim(both), 2, () -> started.add(name));
        return assertInstanceOf(Entry.Waiting.class, entry).ticket();
    }

    @Test
    void a_request_waits_while_every_rank_is_over_its_fraction() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0.5));
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
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0));
        load(0, 1);
        assertInstanceOf(Entry.Admitted.class, q.enter(claim(both), 2, () -> {}));
        load(1, 1);
        wait(q, "a");
        assertEquals(List.of(), started);
    }

    /** Only what has started is booked, so the next one has to wait for that. */
    @Test
    void one_request_at_a_time_leaves_and_the_next_sees_its_load() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0));
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
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0));
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

    @Test
    void when_nobody_serves_the_model_any_more_there_is_nothing_to_wait_for() {
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0));
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
        ModelQueue q = queue(Policies.single(QueuePolicy.FCFS, 0));
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
            }
        }
    }
}
