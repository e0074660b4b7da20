package io.warmpath.wiring.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.EventSource;
import io.warmpath.events.SourceReport;
import io.warmpath.events.SourceStatus;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.HostCopies;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.SlotCredits;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.wiring.Logs;
import io.warmpath.wiring.TestFeed;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

/** What is said of a rank's events. The feed trusts sources of rank 0, and waits for others. */
class EventSubscriptionsTest {
    private final TestFeed feed = new TestFeed();
    private final SlotCredits credits = new SlotCredits();
    private final EventSubscriptions subscriptions =
            new EventSubscriptions(feed, credits, 0.25, source -> null);

    private static Worker worker(int firstSlot) {
        return Worker.builder(7, "w", URI.create("http://127.0.0.1:9"))
                .kind(EngineKind.VLLM)
                .models(Set.of("m"))
                .blockSize(16)
                .ranks(
                        List.of(
                                new Worker.Rank(0, new WorkerSlot(firstSlot)),
                                new Worker.Rank(1, new WorkerSlot(firstSlot + 1))))
                .build();
    }

    private static EventEndpoint source(int rank, String endpoint) {
        return new EventEndpoint(rank, endpoint, false, null, "");
    }

    private EventView of(Worker worker, int rank) {
        return candidate(worker, rank).view();
    }

    private EventTrust candidate(Worker worker, int rank) {
        return subscriptions.of(rank(worker, rank));
    }

    private static Candidate rank(Worker worker, int rank) {
        return new Candidate(worker, rank, worker.ranks().get(rank).slot());
    }

    /** Depths that are believed of eight blocks which the index knows on the slots 0 and 1. */
    private List<Integer> believed() {
        PrefixMatch known =
                new PrefixMatch(16, 8, new int[] {0, 1}, new int[] {8, 8, 8, 8, 4, 8, 8, 8});
        PrefixMatch believed = credits.believed(known);
        return List.of(
                believed.depth(new WorkerSlot(0), Tier.GPU),
                believed.depth(new WorkerSlot(0), Tier.HOST),
                believed.depth(new WorkerSlot(1), Tier.GPU),
                believed.depth(new WorkerSlot(1), Tier.HOST));
    }

    @Test
    void a_doubtful_rank_counts_in_part_and_a_frozen_one_not_at_all() {
        Worker w = worker(0);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1"), source(1, "tcp://a:2")), "");
        assertEquals(List.of(8, 8, 4, 8), believed());
        EventSource second = feed.open.get(1);
        feed.change(second, EventView.REPAIRING, SourceStatus.Belief.PART, "a hole");
        assertEquals(List.of(8, 8, 1, 2), believed());
        assertEquals(new EventTrust(EventView.REPAIRING, 0.25), candidate(w, 1));
        assertEquals(EventTrust.believed(EventView.EXACT), candidate(w, 0));
        feed.change(second, EventView.FROZEN, SourceStatus.Belief.NOTHING, "silent");
        assertEquals(List.of(8, 8, 0, 0), believed());
        assertEquals(1, subscriptions.inState(EventView.FROZEN));
        assertEquals(1, subscriptions.inState(EventView.EXACT));
        feed.change(second, EventView.EXACT, SourceStatus.Belief.ALL, "again");
        assertEquals(List.of(8, 8, 4, 8), believed());
    }

    @Test
    void a_source_for_all_ranks_lowers_all_of_them_until_its_worker_leaves() {
        Worker w = worker(0);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1")), "");
        feed.change(feed.open.get(0), EventView.GONE, SourceStatus.Belief.NOTHING, "cut");
        assertEquals(List.of(0, 0, 0, 0), believed());
        subscriptions.detached(w);
        assertEquals(List.of(8, 8, 4, 8), believed(), "the slots' next owner starts anew");
    }

    @Test
    void events_are_read_by_the_numbers_of_the_workers_engine() {
        EngineRanks ranks = new EngineRanks(2, 2, false);
        Worker w = worker(0).toBuilder().numbers(ranks).build();
        subscriptions.attached(w, List.of(source(0, "tcp://a:1"), source(1, "tcp://a:2")), "");
        assertEquals(List.of(ranks, ranks), feed.open.stream().map(EventSource::ranks).toList());
        assertEquals(
                List.of(0, 1), subscriptions.reports().stream().map(SourceReport::dpRank).toList());
    }

    @Test
    void every_source_is_reported_and_a_worker_without_one_says_why() {
        Worker w = worker(0);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1"), source(1, "refuse")), "");
        List<SourceReport> reports = subscriptions.reports();
        assertEquals(List.of(0, 1), reports.stream().map(SourceReport::dpRank).toList());
        assertEquals("w", reports.get(0).worker());
        assertEquals(EventView.EXACT, reports.get(0).status().state());
        assertEquals(42, reports.get(0).status().batches());
        assertEquals(EventView.NONE, reports.get(1).status().state());
        assertEquals("cannot connect", reports.get(1).status().why());
        subscriptions.detached(w);
        subscriptions.attached(w, List.of(), "");
        assertEquals(EventView.NONE, subscriptions.reports().get(0).status().state());
        assertNull(subscriptions.reports().get(0).endpoint());
        subscriptions.detached(w);
        subscriptions.attached(w, List.of(), "not json");
        assertEquals(EventView.NONE, subscriptions.reports().get(0).status().state());
        assertEquals("not json", subscriptions.reports().get(0).status().why());
    }

    @Test
    void what_was_computed_is_told_to_the_ranks_own_source() {
        Worker w = worker(0);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1"), source(1, "tcp://a:2")), "");
        subscriptions.computed(rank(w, 1), 5);
        assertEquals(Map.of(feed.open.get(1), 1), feed.computed);
        subscriptions.computed(rank(worker(4), 0), 5); // another process: nothing to tell
        assertEquals(1, feed.computed.size());
    }

    @Test
    void each_rank_is_as_its_own_source() {
        Worker w = worker(0);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1"), source(1, "tcp://a:2")), "");
        assertEquals(EventView.EXACT, of(w, 0));
        assertEquals(EventView.CONNECTING, of(w, 1));
    }

    @Test
    void ranks_of_one_source_are_as_that() {
        Worker w = worker(0);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1")), "");
        assertEquals(EventView.EXACT, of(w, 0));
        assertEquals(EventView.EXACT, of(w, 1));
    }

    @Test
    void without_a_source_there_is_none_also_for_a_process_that_has_gone() {
        Worker w = worker(0);
        assertEquals(EventView.NONE, of(w, 0));
        subscriptions.attached(w, List.of(), "");
        assertEquals(EventView.NONE, of(w, 0));
        subscriptions.attached(w, List.of(source(0, "refuse")), "");
        assertEquals(EventView.NONE, of(w, 0));
        subscriptions.detached(w);
        subscriptions.attached(w, List.of(source(0, "tcp://a:1")), "");
        assertEquals(EventView.NONE, of(worker(4), 0));
        assertEquals(EventView.EXACT, of(w, 0));
        subscriptions.detached(w);
        assertEquals(EventView.NONE, of(w, 0));
    }

    private static Worker offloading(HostCopies copies) {
        Worker w = worker(0);
        return w.toBuilder()
                .kind(EngineKind.SGLANG)
                .version("0.5.9")
                .offload(new Offload(copies, null))
                .build();
    }

    private List<String> warnings(Worker w) {
        Logs logs = new Logs(EventSubscriptions.class);
        try {
            subscriptions.attached(w, List.of(source(0, "tcp://a:1")), "");
            subscriptions.checkMedia();
            subscriptions.checkMedia();
            return logs.at(Level.WARNING);
        } finally {
            logs.close();
        }
    }

    @Test
    void a_worker_that_tells_only_of_its_device_is_reported_and_warned_of_once() {
        feed.stored = 300;
        Worker w = offloading(HostCopies.EARLY);
        List<String> said = warnings(w);
        assertEquals(1, said.size());
        assertTrue(said.getFirst().contains("w/0"), said.getFirst());
        assertTrue(said.getFirst().contains("medium GPU"), said.getFirst());
        assertTrue(subscriptions.reports().getFirst().deviceOnly());
        feed.offloaded = 1;
        assertFalse(subscriptions.reports().getFirst().deviceOnly());
    }

    @Test
    void nothing_is_said_of_workers_without_host_tier_or_with_too_little_to_tell() {
        feed.stored = 300;
        assertEquals(List.of(), warnings(offloading(HostCopies.NONE)));
        assertFalse(subscriptions.reports().getFirst().deviceOnly());
        // Ten blocks have left the device by now: too few to miss their copies.
        assertEquals(List.of(), warnings(offloading(HostCopies.ON_EVICTION)));
        feed.stored = 255;
        assertEquals(List.of(), warnings(offloading(HostCopies.EARLY)));
        feed.stored = 300;
        feed.offloaded = 5;
        assertEquals(List.of(), warnings(offloading(HostCopies.EARLY)));
    }
}
