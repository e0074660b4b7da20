package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.prefix.WorkerSlot;
import java.net.URI;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is said of a rank's events. The feed trusts sources of rank 0, and waits for others. */
class EventSubscriptionsTest {
    private final EventSubscriptions subscriptions = new EventSubscriptions(new TestFeed());

    private static Worker worker(int firstSlot) {
        return new Worker(
                7,
                "w",
                URI.create("http://127.0.0.1:9"),
                EngineKind.VLLM,
                Set.of("m"),
                16,
                WorkerState.READY,
                List.of(
                        new Worker.Rank(0, new WorkerSlot(firstSlot)),
                        new Worker.Rank(1, new WorkerSlot(firstSlot + 1))));
    }

    private static EventEndpoint source(int rank, String endpoint) {
        return new EventEndpoint(rank, endpoint, false, null, "");
    }

    private EventView of(Worker worker, int rank) {
        return subscriptions.of(new Candidate(worker, rank, worker.ranks().get(rank).slot()));
    }

    @Test
    void each_rank_is_as_its_own_source() {
        Worker w = worker(0);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1"), source(1, "tcp://a:2")));
        assertEquals(EventView.COMPLETE, of(w, 0));
        assertEquals(EventView.PENDING, of(w, 1));
    }

    @Test
    void ranks_of_one_source_are_as_that() {
        Worker w = worker(0);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1")));
        assertEquals(EventView.COMPLETE, of(w, 0));
        assertEquals(EventView.COMPLETE, of(w, 1));
    }

    @Test
    void without_a_source_there_is_none_also_for_a_process_that_has_gone() {
        Worker w = worker(0);
        assertEquals(EventView.NONE, of(w, 0));
        subscriptions.attached(w, List.of());
        assertEquals(EventView.NONE, of(w, 0));
        subscriptions.attached(w, List.of(source(0, "refuse")));
        assertEquals(EventView.NONE, of(w, 0));
        subscriptions.detached(w);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1")));
        assertEquals(EventView.NONE, of(worker(4), 0));
        assertEquals(EventView.COMPLETE, of(w, 0));
        subscriptions.detached(w);
        assertEquals(EventView.NONE, of(w, 0));
    }
}
