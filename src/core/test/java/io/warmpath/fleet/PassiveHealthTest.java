package io.warmpath.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Requests, verdicts and who is open to the next request, in virtual time. */
class PassiveHealthTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Duration SLOW_START = Duration.ofSeconds(10);

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final FleetRegistry fleet = new FleetRegistry(index, String::hashCode, s -> {});
    private final Set<WorkerSlot> running = new HashSet<>();
    private long now = 1_000 * SECOND;
    private double draw;
    private final PassiveHealth health = new PassiveHealth(fleet, BreakerTest.OPTIONS, () -> now);

    PassiveHealthTest() {
        fleet.openBy(
                new Openings(
                        () -> now,
                        () -> draw,
                        slot -> running.contains(slot) ? 1 : 0,
                        SLOW_START,
                        0.8));
    }

    private Worker add(String name) {
        Worker w =
                fleet.add(
                        new WorkerSpecBuilder(WorkerSpec.parse("http://" + name + ":1"))
                                .name(name)
                                .build());
        fleet.learnt(w.id(), Profiles.of(EngineKind.VLLM, ServedModels.of(Set.of("m"))), false);
        health.tick();
        return w;
    }

    private Worker now(Worker w) {
        return fleet.find(w.name()).orElseThrow().worker();
    }

    private void fail(Worker w, int times) {
        for (int i = 0; i < times; i++) {
            fleet.ended(w.id(), RequestOutcome.FAILED, now);
        }
        health.tick();
    }

    private void succeed(Worker w) {
        fleet.ended(w.id(), RequestOutcome.OK, now);
        health.tick();
    }

    /** Names of who may get a request, for this luck. */
    private Set<String> open(double luck) {
        Set<String> names = new TreeSet<>();
        fleet.open("m", luck).forEach(c -> names.add(c.worker().name()));
        return names;
    }

    private void advanceToTrial() {
        now += BreakerTest.OPTIONS.pauseMin().toNanos();
        health.tick();
    }

    @Test
    void a_worker_whose_requests_fail_gets_none_then_one_at_a_time_then_more_and_more() {
        Worker a = add("a");
        add("b");
        fail(a, 2);
        assertEquals(WorkerState.READY, now(a).state());
        fail(a, 1);
        assertEquals(WorkerState.SUSPENDED, now(a).state());
        assertEquals(Set.of("b"), open(0));
        assertEquals(1, health.suspensions());

        advanceToTrial();
        assertEquals(WorkerState.TRIAL, now(a).state());
        assertEquals(Set.of("a", "b"), open(0.99));
        running.add(now(a).ranks().get(0).slot());
        assertEquals(Set.of("b"), open(0));
        assertEquals("on trial: one request at a time", fleet.whyNot(now(a)));
        running.clear();

        succeed(a);
        assertEquals(WorkerState.TRIAL, now(a).state());
        succeed(a);
        assertEquals(WorkerState.READY, now(a).state());
        assertEquals(Set.of("a", "b"), open(0.05));
        assertEquals(Set.of("b"), open(0.15));
        now += SLOW_START.toNanos() / 2;
        assertEquals(Set.of("a", "b"), open(0.45));
        assertEquals(Set.of("b"), open(0.55));
        assertEquals("slow start: takes 50 % of the requests", fleet.whyNot(now(a)));
        now += SLOW_START.toNanos() / 2;
        assertEquals(Set.of("a", "b"), open(0.999));
        assertTrue(fleet.snapshot().limited());
        fleet.endRamps(SLOW_START.toNanos());
        assertTrue(!fleet.snapshot().limited(), "the list is the snapshot's own again");
    }

    @Test
    void a_failed_trial_ends_the_trial() {
        Worker a = add("a");
        add("b");
        fail(a, 3);
        advanceToTrial();
        fail(a, 1);
        assertEquals(WorkerState.SUSPENDED, now(a).state());
        assertTrue(fleet.find("a").orElseThrow().problem().contains("failed"));
    }

    @Test
    void a_worker_that_is_far_slower_than_its_peers_is_suspended() {
        Worker a = add("a");
        Worker b = add("b");
        for (int i = 0; i < 5; i++) {
            fleet.firstToken(a.id(), 20 * SECOND, 500);
            fleet.firstToken(b.id(), SECOND, 500);
        }
        health.tick();
        assertEquals(WorkerState.READY, now(a).state(), "the window is open still");
        now += BreakerTest.OPTIONS.window().toNanos();
        health.tick();
        assertEquals(WorkerState.SUSPENDED, now(a).state());
        assertEquals(
                "its first tokens take 20 times as long as its peers'",
                fleet.find("a").orElseThrow().problem());
        assertEquals(WorkerState.READY, now(b).state());
    }

    @Test
    void a_worker_that_was_unhealthy_meanwhile_starts_with_a_clean_slate() {
        Worker a = add("a");
        add("b");
        fail(a, 2);
        fleet.unhealthy(a.id(), "no answer");
        fleet.healthy(a.id());
        fail(a, 2);
        assertEquals(WorkerState.READY, now(a).state());
        fail(a, 1);
        assertEquals(WorkerState.SUSPENDED, now(a).state());
        fleet.unhealthy(a.id(), "no answer");
        assertEquals(WorkerState.UNHEALTHY, now(a).state());
        now += 100 * SECOND;
        health.tick();
        assertEquals(WorkerState.UNHEALTHY, now(a).state(), "its pause is no concern any more");
        fleet.healthy(a.id());
        assertEquals(WorkerState.READY, now(a).state());
        assertEquals(Set.of("b"), open(0.5), "slowly, too");
    }

    @Test
    void when_nearly_all_look_bad_all_are_tried_but_those_that_are_gone() {
        List<Worker> all = List.of(add("a"), add("b"), add("c"), add("d"), add("e"));
        fail(all.get(0), 3);
        fail(all.get(1), 3);
        fleet.unhealthy(all.get(2).id(), "late");
        assertEquals(Set.of("d", "e"), open(0));
        fleet.unhealthy(all.get(3).id(), "connection refused", true);
        assertTrue(fleet.snapshot().panics("m"), "four of five look bad");
        assertEquals(Set.of("a", "b", "c", "e"), open(0.999));
        assertEquals(1, fleet.snapshot().panics());
        advanceToTrial();
        running.add(now(all.get(0)).ranks().get(0).slot());
        assertEquals(Set.of("a", "b", "c", "e"), open(0), "trials do not limit it either");
        fleet.healthy(all.get(2).id());
        assertTrue(!fleet.snapshot().panics("m"));
        assertEquals(Set.of("b", "c", "e"), open(0));
    }

    @Test
    void the_only_worker_is_tried_however_it_looks() {
        Worker a = add("a");
        fail(a, 3);
        assertEquals(WorkerState.SUSPENDED, now(a).state());
        assertEquals(Set.of(), open(0));
        assertEquals(1, fleet.snapshot().lastResort("m").size());
        advanceToTrial();
        assertEquals(Set.of("a"), open(0));
        fleet.unhealthy(a.id(), "connection refused", true);
        assertEquals(Set.of(), open(0));
        assertEquals(1, fleet.snapshot().lastResort("m").size());
    }

    @Test
    void what_pauses_itself_is_left_alone_even_in_panic() {
        Worker a = add("a");
        fleet.paused(a.id(), "draining");
        assertEquals(WorkerState.PAUSED, now(a).state());
        assertEquals(Set.of(), open(0));
        assertEquals(0, fleet.snapshot().lastResort("m").size());
        fleet.healthy(a.id());
        assertEquals(Set.of("a"), open(0));
    }

    private void full(Worker w, int seconds) {
        fleet.full(w.id(), Duration.ofSeconds(seconds));
        health.tick();
    }

    @Test
    void a_full_queue_is_no_failure_and_is_asked_again_when_its_pause_is_over() {
        Worker a = add("a");
        add("b");
        for (int i = 0; i < 100; i++) {
            full(a, 1);
        }
        assertEquals(WorkerState.FULL, now(a).state());
        assertEquals(Set.of("b"), open(0));
        assertEquals("full: its queue takes no more", fleet.whyNot(now(a)));
        assertTrue(fleet.find("a").orElseThrow().problem().contains("queue is full"));
        assertTrue(fleet.snapshot().anyAvailable());
        assertEquals(0, health.suspensions());
        assertEquals(2, fleet.snapshot().candidates("m").size(), "by its name it can be asked");
        now += SECOND - 1;
        assertEquals(1, health.tick());
        assertEquals(WorkerState.FULL, now(a).state());
        now += 1;
        health.tick();
        assertEquals(WorkerState.READY, now(a).state());
        assertEquals(Set.of("a", "b"), open(0.999), "at once, not slowly");
        assertEquals("", fleet.find("a").orElseThrow().problem());
        assertTrue(!fleet.snapshot().limited());
    }

    @Test
    void the_longest_pause_counts_and_when_all_are_full_all_may_be_asked() {
        Worker a = add("a");
        Worker b = add("b");
        full(a, 5);
        full(a, 1);
        full(b, 1);
        assertEquals(Set.of("a", "b"), open(0));
        now += SECOND;
        health.tick();
        assertEquals(Set.of("b"), open(0));
        now += 4 * SECOND;
        health.tick();
        assertEquals(Set.of("a", "b"), open(0));
    }

    @Test
    void full_on_trial_it_goes_on_with_its_trial() {
        Worker a = add("a");
        add("b");
        fail(a, 3);
        full(a, 1);
        assertEquals(WorkerState.SUSPENDED, now(a).state(), "its failures count more");
        advanceToTrial();
        full(a, 1);
        assertEquals(WorkerState.FULL, now(a).state());
        assertEquals(Set.of("b"), open(0));
        now += SECOND;
        health.tick();
        assertEquals(WorkerState.TRIAL, now(a).state());
        succeed(a);
        succeed(a);
        assertEquals(WorkerState.READY, now(a).state());
    }

    @Test
    void what_fails_beside_a_full_queue_is_a_failure_and_full_ones_are_not_bad() {
        Worker a = add("a");
        Worker b = add("b");
        full(b, 1);
        fail(a, 3);
        full(a, 60);
        assertEquals(WorkerState.SUSPENDED, now(a).state());
        assertEquals(Set.of("b"), open(0));
        assertTrue(!fleet.snapshot().panics("m"));
        fail(b, 3);
        assertEquals(WorkerState.SUSPENDED, now(b).state());
        Worker c = add("c");
        full(c, 60);
        fleet.unhealthy(c.id(), "no answer");
        assertEquals(WorkerState.UNHEALTHY, now(c).state());
        fleet.healthy(c.id());
        now += SECOND;
        health.tick();
        assertEquals(WorkerState.READY, now(c).state(), "a clean slate");
    }
}
