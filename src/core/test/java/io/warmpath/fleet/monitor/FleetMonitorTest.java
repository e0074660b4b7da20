package io.warmpath.fleet.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.AdapterBases;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.HealthOptions;
import io.warmpath.fleet.PassiveHealth;
import io.warmpath.fleet.Profiles;
import io.warmpath.fleet.RequestOutcome;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.probe.ProbeException;
import io.warmpath.fleet.probe.WorkerProbe;
import io.warmpath.fleet.probe.WorkerProbe.Health;
import io.warmpath.fleet.probe.WorkerProbe.Verdict;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The monitor on a clock of the test, with probes that answer when the test says so. */
class FleetMonitorTest {
    private static final FleetMonitor.Timing TIMING =
            new FleetMonitor.Timing(
                    Duration.ofSeconds(2),
                    Duration.ofMillis(500),
                    2,
                    Duration.ofMillis(250),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(60));

    private static final HealthOptions HEALTH =
            new HealthOptions(
                    5,
                    Duration.ofSeconds(5),
                    Duration.ofMinutes(1),
                    3,
                    10,
                    Duration.ofSeconds(2),
                    Duration.ofSeconds(10),
                    5);

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final FleetRegistry fleet = new FleetRegistry(index, String::hashCode, s -> {});
    private final Queue<Runnable> probes = new ArrayDeque<>();
    private final Engine engine = new Engine();
    private long now = 1_000_000_000L;
    private long running;
    private long sign; // of life, the last one
    private int wakes;
    private final FleetMonitor monitor =
            new FleetMonitor(
                    fleet,
                    engine,
                    probes::add,
                    () -> now,
                    TIMING,
                    this::running,
                    (worker, otherwise) -> sign - otherwise > 0 ? sign : otherwise);

    FleetMonitorTest() {
        monitor.onWake(() -> wakes++);
    }

    private long running(WorkerSlot slot) {
        return running;
    }

    /** What the engine would answer now. */
    private static final class Engine implements WorkerProbe {
        Verdict health = Verdict.OK;
        Verdict deep = Verdict.OK;
        String problem = "";
        List<String> unread = List.of();
        ServedModels served = ServedModels.of(Set.of("m"));
        int looks; // at what it serves, beside the other questions
        final List<String> asked = new ArrayList<>();

        @Override
        public ServedModels served(WorkerSpec spec) throws ProbeException {
            looks++;
            if (!problem.isEmpty()) {
                throw new ProbeException(problem);
            }
            return served;
        }

        @Override
        public WorkerProfile learn(WorkerSpec spec) throws ProbeException {
            asked.add("learn");
            if (!problem.isEmpty()) {
                throw new ProbeException(problem);
            }
            return Profiles.of(EngineKind.VLLM, served, unread);
        }

        @Override
        public Health health(WorkerSpec spec, EngineKind kind) {
            asked.add("health");
            return new Health(health, health == Verdict.OK ? "" : health.name());
        }

        @Override
        public Health deepHealth(WorkerSpec spec, EngineKind kind) {
            asked.add("deep");
            return new Health(deep, deep == Verdict.OK ? "" : deep.name());
        }
    }

    private void advance(Duration by) {
        now += by.toNanos();
    }

    /** One round: what is due is asked, answered and acted upon. Returns what was asked. */
    private List<String> round() {
        engine.asked.clear();
        monitor.tick();
        while (!probes.isEmpty()) {
            probes.remove().run();
            monitor.tick();
        }
        return List.copyOf(engine.asked);
    }

    private Worker worker() {
        return fleet.status().get(0).worker();
    }

    private Worker ready() {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        assertEquals(List.of("learn"), round());
        assertEquals(WorkerState.READY, worker().state());
        return w;
    }

    @Test
    void a_new_worker_is_asked_at_once_and_becomes_ready() {
        ready();
        assertEquals(List.of(), round(), "nothing is due yet");
        assertTrue(wakes > 0);
    }

    @Test
    void a_worker_that_does_not_answer_is_asked_again_with_growing_pauses() {
        engine.problem = "connection refused";
        fleet.add(WorkerSpec.of("http://a:1"));
        round();
        assertEquals("connection refused", fleet.status().get(0).problem());
        for (long pause : new long[] {250, 500, 1000, 2000, 4000, 5000, 5000}) {
            advance(Duration.ofMillis(pause - 1));
            assertEquals(List.of(), round(), "before " + pause + " ms");
            advance(Duration.ofMillis(1));
            assertEquals(List.of("learn"), round(), "after " + pause + " ms");
        }
        engine.problem = "";
        advance(Duration.ofSeconds(5));
        round();
        assertEquals(WorkerState.READY, worker().state());
        assertEquals(8, monitor.failedProbes());
    }

    @Test
    void adapters_that_come_and_go_while_an_engine_runs_are_found() {
        ready();
        WorkerSlot slot = worker().ranks().get(0).slot();
        AdapterBases bases = new AdapterBases();
        bases.follow(fleet);
        engine.served = new ServedModels(Set.of("m", "sql"), Map.of("sql", "m"));
        advance(Duration.ofSeconds(9));
        assertEquals(List.of("health"), round());
        assertEquals(0, engine.looks, "not at every check");
        advance(Duration.ofSeconds(2));
        assertEquals(List.of("health"), round());
        assertEquals(1, engine.looks);
        assertEquals(Set.of("m", "sql"), worker().models());
        assertEquals("m", bases.of("sql"));
        assertTrue(fleet.snapshot().knows("sql"));
        assertEquals(slot, worker().ranks().get(0).slot(), "its cache is the same");

        engine.problem = "GET /v1/models answered 500";
        advance(Duration.ofSeconds(11));
        round();
        assertEquals(Set.of("m", "sql"), worker().models(), "what was known stays");
        assertEquals(WorkerState.READY, worker().state());
        assertEquals(1, monitor.failedProbes());

        engine.problem = "";
        engine.served = ServedModels.of(Set.of("m"));
        advance(Duration.ofSeconds(11));
        round();
        assertEquals(Set.of("m"), worker().models());
        assertNull(bases.of("sql"));
        assertFalse(fleet.snapshot().knows("sql"));
    }

    @Test
    void what_could_not_be_read_keeps_no_worker_out_and_is_asked_for_again() {
        List<List<String>> told = new ArrayList<>();
        fleet.addListener(
                new FleetListener() {
                    @Override
                    public void disagrees(Worker worker, List<String> what) {
                        told.add(what);
                    }
                });
        engine.unread = List.of("events: not json");
        ready();
        WorkerSlot slot = worker().ranks().get(0).slot();
        assertEquals(engine.unread, fleet.status().get(0).disagreements());
        engine.served = ServedModels.of(Set.of("m", "sql"));
        advance(Duration.ofSeconds(11));
        assertEquals(List.of("health", "learn"), round());
        assertEquals(Set.of("m", "sql"), worker().models(), "adapters are found all the same");
        assertEquals(List.of(engine.unread), told, "once");

        engine.problem = "GET /v1/models answered 500";
        advance(Duration.ofSeconds(11));
        assertEquals(List.of("health", "learn"), round());
        assertEquals(WorkerState.READY, worker().state());

        engine.problem = "";
        engine.unread = List.of();
        engine.health = Verdict.LATE;
        advance(Duration.ofSeconds(11));
        assertEquals(List.of("health"), round());
        engine.health = Verdict.OK;
        advance(Duration.ofSeconds(11));
        assertEquals(List.of("health", "learn"), round());
        assertEquals(List.of(), fleet.status().get(0).disagreements());
        assertEquals(slot, worker().ranks().get(0).slot(), "its cache is the same");
        advance(Duration.ofSeconds(11));
        assertEquals(List.of("health"), round());
    }

    @Test
    void models_that_the_operator_names_are_not_asked_for() {
        fleet.add(
                new WorkerSpecBuilder(WorkerSpec.of("http://a:1").url())
                        .models(Set.of("own"))
                        .build());
        round();
        advance(Duration.ofSeconds(11));
        assertEquals(List.of("health"), round());
        assertEquals(0, engine.looks);
    }

    @Test
    void two_failed_checks_in_a_row_make_a_worker_unhealthy_and_one_good_one_ready() {
        ready();
        WorkerSlot slot = worker().ranks().get(0).slot();
        engine.health = Verdict.FAILING;
        advance(TIMING.healthInterval());
        assertEquals(List.of("health"), round());
        assertEquals(WorkerState.READY, worker().state());
        advance(TIMING.unhealthyInterval());
        round();
        assertEquals(WorkerState.UNHEALTHY, worker().state());
        engine.health = Verdict.OK;
        advance(TIMING.unhealthyInterval());
        assertEquals(List.of("health"), round());
        assertEquals(WorkerState.READY, worker().state());
        assertEquals(slot, worker().ranks().get(0).slot(), "the same process keeps its cache");
        assertEquals(0, fleet.restarts());
    }

    @Test
    void a_worker_that_could_not_be_asked_is_neither_well_nor_ill_for_it() {
        ready();
        engine.health = Verdict.NOT_ASKED;
        for (int i = 0; i < 5; i++) {
            advance(TIMING.healthInterval());
            assertEquals(List.of("health"), round());
            assertEquals(WorkerState.READY, worker().state());
        }
        assertEquals(0, monitor.failedProbes());
        engine.health =
                Verdict.FAILING; // one failure counts, and what was not asked does not end it
        advance(TIMING.healthInterval());
        round();
        engine.health = Verdict.NOT_ASKED;
        advance(TIMING.unhealthyInterval());
        round();
        engine.health = Verdict.FAILING;
        advance(TIMING.unhealthyInterval());
        round();
        assertEquals(WorkerState.UNHEALTHY, worker().state());
    }

    @Test
    void failures_that_are_not_in_a_row_do_not_count() {
        ready();
        for (int i = 0; i < 3; i++) {
            engine.health = Verdict.FAILING;
            advance(TIMING.healthInterval());
            round();
            engine.health = Verdict.OK;
            advance(TIMING.unhealthyInterval());
            round();
        }
        assertEquals(WorkerState.READY, worker().state());
    }

    @Test
    void a_refused_connection_is_unhealthy_at_once_and_a_new_process_when_it_answers_again() {
        ready();
        WorkerSlot before = worker().ranks().get(0).slot();
        engine.health = Verdict.REFUSED;
        advance(TIMING.healthInterval());
        round();
        assertEquals(WorkerState.UNHEALTHY, worker().state());

        engine.health = Verdict.OK;
        engine.problem = "still loading";
        advance(TIMING.unhealthyInterval());
        assertEquals(List.of("health", "learn"), round());
        assertEquals(WorkerState.UNHEALTHY, worker().state(), "not before it says what it serves");

        engine.problem = "";
        advance(TIMING.unhealthyInterval());
        assertEquals(List.of("health", "learn"), round());
        assertEquals(WorkerState.READY, worker().state());
        assertNotEquals(before, worker().ranks().get(0).slot());
        assertEquals(1, fleet.restarts());
        assertEquals(1, index.stats().slots());
        advance(TIMING.healthInterval());
        assertEquals(List.of("health"), round(), "learnt once per restart");
    }

    @Test
    void a_worker_that_answers_is_checked_at_every_fourth_interval_only() {
        PassiveHealth passive = new PassiveHealth(fleet, HEALTH, () -> now);
        Worker w = ready();
        long began = now;
        List<Long> checked = new ArrayList<>();
        while (checked.size() < 3) {
            passive.ended(w.id(), RequestOutcome.OK, now);
            advance(Duration.ofMillis(100));
            if (!round().isEmpty()) {
                checked.add(Duration.ofNanos(now - began).toSeconds());
            }
        }
        assertEquals(List.of(8L, 16L, 24L), checked);
    }

    @Test
    void the_check_comes_an_interval_after_the_last_answer() {
        PassiveHealth passive = new PassiveHealth(fleet, HEALTH, () -> now);
        Worker w = ready();
        advance(Duration.ofMillis(1500));
        passive.ended(w.id(), RequestOutcome.OK, now);
        advance(Duration.ofMillis(500));
        assertEquals(List.of(), round());
        assertEquals(Duration.ofMillis(1500).toNanos(), monitor.tick());
        advance(Duration.ofMillis(1500));
        assertEquals(List.of("health"), round());
    }

    @Test
    void requests_that_fail_put_no_check_off() {
        PassiveHealth passive = new PassiveHealth(fleet, HEALTH, () -> now);
        Worker w = ready();
        passive.ended(w.id(), RequestOutcome.OK, now - 1);
        advance(TIMING.healthInterval());
        passive.ended(w.id(), RequestOutcome.FAILED, now - 1);
        assertEquals(List.of("health"), round());
    }

    @Test
    void what_may_be_wrong_is_checked_whatever_it_answers() {
        PassiveHealth passive = new PassiveHealth(fleet, HEALTH, () -> now);
        Worker w = ready();
        engine.health = Verdict.FAILING;
        monitor.suspect(w.id());
        assertEquals(List.of("health"), round());
        advance(TIMING.unhealthyInterval());
        passive.ended(w.id(), RequestOutcome.OK, now);
        assertEquals(List.of("health"), round(), "it has failed one check");
        assertEquals(WorkerState.UNHEALTHY, worker().state());
        advance(TIMING.unhealthyInterval());
        passive.ended(w.id(), RequestOutcome.OK, now);
        assertEquals(List.of("health"), round(), "it is not ready");
    }

    @Test
    void a_reported_failure_is_checked_at_once() {
        Worker w = ready();
        engine.health = Verdict.REFUSED;
        int before = wakes;
        fleet.reportFailure(w.id());
        assertTrue(wakes > before, "the monitor was woken");
        assertEquals(List.of("health"), round());
        assertEquals(WorkerState.UNHEALTHY, worker().state());
        fleet.reportFailure(12345); // no such worker
        assertEquals(List.of(), round());
    }

    @Test
    void one_question_per_worker_is_open_at_a_time() {
        Worker w = ready();
        advance(TIMING.healthInterval());
        monitor.tick();
        assertEquals(1, probes.size());
        fleet.reportFailure(w.id());
        advance(TIMING.healthInterval());
        monitor.tick();
        assertEquals(1, probes.size(), "the first check has not answered yet");
    }

    /** Rounds of a second each; what was asked in all of them. */
    private List<String> seconds(int count) {
        List<String> asked = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            advance(Duration.ofSeconds(1));
            asked.addAll(round());
        }
        return asked;
    }

    @Test
    void a_check_that_is_late_does_not_count_when_something_came_meanwhile() {
        ready();
        engine.health = Verdict.LATE;
        for (int i = 0; i < 10; i++) {
            advance(TIMING.healthInterval());
            monitor.tick();
            advance(Duration.ofSeconds(3));
            sign = now - 1;
            probes.remove().run();
            monitor.tick();
            assertEquals(WorkerState.READY, worker().state());
        }
        assertEquals(0, monitor.failedProbes());
        assertEquals(List.of("health", "health"), seconds(3), "silent: late checks count");
        assertEquals(WorkerState.UNHEALTHY, worker().state());
    }

    @Test
    void an_idle_worker_is_never_asked_the_deep_question() {
        ready();
        assertTrue(seconds(600).stream().allMatch("health"::equals));
    }

    @Test
    void a_worker_that_sends_or_answers_is_not_asked_the_deep_question() {
        ready();
        running = 3;
        for (int i = 0; i < 600; i++) {
            if (i % 9 == 0) {
                sign = now;
            }
            assertTrue(seconds(1).stream().allMatch("health"::equals));
        }
    }

    @Test
    void a_worker_that_is_quiet_under_requests_must_say_that_it_computes() {
        ready();
        running = 1;
        assertTrue(seconds(10).stream().allMatch("health"::equals));
        assertTrue(seconds(2).contains("deep"));
        assertEquals(WorkerState.READY, worker().state(), "it said so");
        assertTrue(seconds(8).stream().allMatch("health"::equals), "that is a sign of life");
        engine.deep = Verdict.UNAVAILABLE;
        seconds(2);
        assertEquals(WorkerState.READY, worker().state(), "once is not enough");
        seconds(4);
        assertEquals(WorkerState.UNHEALTHY, worker().state());
        assertEquals(
                "it has requests, and computes nothing: UNAVAILABLE",
                fleet.status().get(0).problem());
        running = 0;
        seconds(60);
        assertEquals(WorkerState.UNHEALTHY, worker().state(), "the cheap question heals nothing");
        engine.deep = Verdict.OK;
        seconds(5);
        assertEquals(WorkerState.READY, worker().state());
    }

    @Test
    void a_worker_that_computed_nothing_is_well_with_its_next_sign_of_life() {
        ready();
        running = 1;
        engine.deep = Verdict.UNAVAILABLE;
        seconds(20);
        assertEquals(WorkerState.UNHEALTHY, worker().state());
        sign = now;
        seconds(2);
        assertEquals(WorkerState.READY, worker().state());
    }

    /** Lets it be quiet until the deep question is open; nothing is left open beside it. */
    private Runnable deepQuestion() {
        while (true) {
            advance(Duration.ofSeconds(1));
            monitor.tick();
            List<Runnable> open = new ArrayList<>(probes);
            probes.clear();
            for (Runnable question : open) {
                if (monitor.asksDeep(worker().id()) && question == open.getLast()) {
                    monitor.tick();
                    return question;
                }
                question.run();
            }
        }
    }

    @Test
    void a_sign_of_life_while_the_deep_question_is_open_outweighs_its_answer() {
        ready();
        running = 1;
        engine.deep = Verdict.UNAVAILABLE;
        for (int i = 0; i < 5; i++) {
            Runnable question = deepQuestion();
            sign = now + 1;
            advance(Duration.ofSeconds(20));
            question.run();
            monitor.tick();
            assertEquals(WorkerState.READY, worker().state());
        }
    }

    @Test
    void the_cheap_question_is_asked_beside_the_deep_one() {
        ready();
        running = 1;
        deepQuestion();
        engine.health = Verdict.REFUSED;
        advance(TIMING.healthInterval());
        assertEquals(List.of("health"), round());
        assertEquals(WorkerState.UNHEALTHY, worker().state());
    }

    @Test
    void a_worker_that_says_it_takes_nothing_is_believed_at_once() {
        ready();
        engine.health = Verdict.UNAVAILABLE;
        advance(TIMING.healthInterval());
        round();
        assertEquals(WorkerState.UNHEALTHY, worker().state());
    }

    @Test
    void a_worker_that_drains_by_itself_is_asked_on_and_comes_back_as_the_same_one() {
        ready();
        WorkerSlot slot = worker().ranks().get(0).slot();
        engine.health = Verdict.DRAINING;
        advance(TIMING.healthInterval());
        round();
        assertEquals(WorkerState.PAUSED, worker().state());
        advance(Duration.ofMinutes(10));
        assertEquals(List.of("health"), round(), "it is not removed, however long it takes");
        engine.health = Verdict.OK;
        advance(TIMING.unhealthyInterval());
        round();
        assertEquals(WorkerState.READY, worker().state());
        assertEquals(slot, worker().ranks().get(0).slot());
    }

    @Test
    void another_record_is_learnt_at_once_and_once() {
        Worker w = ready();
        WorkerSpec other =
                new WorkerSpecBuilder(w.url()).taints(List.of(Taint.parse("spot"))).build();
        assertTrue(fleet.update(w.id(), other));
        assertEquals(List.of(Taint.parse("spot")), worker().taints());
        engine.problem = "busy";
        assertEquals(List.of("learn"), round());
        assertEquals(List.of(), round(), "what failed waits for its time");
        engine.problem = "";
        advance(TIMING.learnMin());
        assertEquals(List.of("learn"), round());
        assertEquals(WorkerState.READY, worker().state());
        assertEquals(w.ranks(), worker().ranks(), "it stays the same worker");
        assertEquals(List.of(), round());
        assertEquals(0, fleet.restarts());
    }

    @Test
    void checks_are_spread_by_chance() {
        List<Long> given = new ArrayList<>();
        FleetMonitor spread =
                new FleetMonitor(
                        fleet,
                        engine,
                        Runnable::run,
                        () -> now,
                        new FleetMonitor.Timing(
                                TIMING.healthInterval(),
                                TIMING.unhealthyInterval(),
                                1,
                                TIMING.learnMin(),
                                TIMING.learnMax(),
                                TIMING.drainTimeout(),
                                Duration.ZERO,
                                Duration.ofSeconds(10),
                                nanos -> {
                                    given.add(nanos);
                                    return nanos / 2;
                                }),
                        this::running,
                        LifeSigns.NONE);
        fleet.add(WorkerSpec.of("http://a:1"));
        spread.tick();
        assertEquals(TIMING.healthInterval().toNanos() / 2, spread.tick());
        engine.health = Verdict.FAILING;
        advance(TIMING.healthInterval().dividedBy(2));
        spread.tick();
        assertEquals(TIMING.unhealthyInterval().toNanos() / 2, spread.tick());
        assertEquals(
                List.of(TIMING.healthInterval().toNanos(), TIMING.unhealthyInterval().toNanos()),
                given);
    }

    @Test
    void the_pause_ends_when_the_next_check_is_due() {
        ready();
        advance(Duration.ofMillis(500));
        assertEquals(Duration.ofMillis(1500).toNanos(), monitor.tick());
    }

    @Test
    void a_draining_worker_is_removed_when_its_requests_have_ended() {
        Worker w = ready();
        running = 1;
        fleet.drain(w.id());
        round();
        advance(Duration.ofSeconds(1));
        round();
        assertEquals(1, fleet.status().size(), "a request is running");
        running = 0;
        round();
        assertEquals(0, fleet.status().size());
        assertEquals(0, index.stats().slots());
    }

    /** What is told of workers that fail, whatever their state. */
    private List<Boolean> failing() {
        List<Boolean> told = new ArrayList<>();
        fleet.addListener(
                new FleetListener() {
                    @Override
                    public void failing(Worker worker, boolean fails) {
                        told.add(fails);
                    }
                });
        return told;
    }

    @Test
    void what_a_process_had_is_told_to_be_lost_when_the_next_one_has_its_address() {
        List<String> replaced = new ArrayList<>();
        fleet.addListener(
                new FleetListener() {
                    @Override
                    public void replaced(Worker worker) {
                        replaced.add(worker.name());
                    }
                });
        Worker w = ready();
        engine.health = Verdict.REFUSED;
        seconds(2);
        assertEquals(List.of(), replaced);
        engine.health = Verdict.OK;
        seconds(2);
        assertEquals(WorkerState.READY, worker().state());
        assertEquals(List.of(w.name()), replaced);
    }

    @Test
    void a_draining_worker_is_asked_until_its_last_request_has_ended() {
        List<Boolean> failing = failing();
        Worker w = ready();
        running = 1;
        fleet.drain(w.id());
        assertTrue(seconds(3).contains("health"));
        assertEquals(List.of(), failing);
        engine.health = Verdict.LATE;
        seconds(3);
        assertEquals(List.of(true), failing);
        assertEquals(WorkerState.DRAINING, worker().state());
        engine.health = Verdict.OK;
        seconds(2);
        assertEquals(List.of(true, false), failing);
        engine.deep = Verdict.UNAVAILABLE;
        List<String> asked = seconds(16);
        assertTrue(asked.contains("deep"), asked::toString);
        assertEquals(List.of(true, false, true), failing, "it is quiet and computes nothing");
        running = 0;
        round();
        assertEquals(0, fleet.status().size());
    }

    @Test
    void to_drain_is_no_recovery() {
        List<Boolean> failing = failing();
        Worker w = ready();
        running = 1;
        engine.health = Verdict.LATE;
        seconds(4);
        assertEquals(WorkerState.UNHEALTHY, worker().state());
        fleet.drain(w.id());
        engine.health = Verdict.UNAVAILABLE; // as one answers that ends
        seconds(4);
        fleet.hold(w.id(), "held");
        seconds(4);
        assertEquals(List.of(true), failing);
        engine.health = Verdict.OK;
        seconds(4);
        assertEquals(List.of(true, false), failing);
    }

    @Test
    void a_draining_worker_that_says_so_does_not_fail_and_is_not_learnt_again() {
        List<Boolean> failing = failing();
        Worker w = ready();
        running = 1;
        fleet.drain(w.id());
        for (Verdict seen : List.of(Verdict.DRAINING, Verdict.UNAVAILABLE)) {
            engine.health = seen;
            seconds(4);
        }
        assertEquals(List.of(), failing);
        engine.health = Verdict.REFUSED;
        seconds(2);
        engine.health = Verdict.OK;
        assertFalse(seconds(4).contains("learn"));
        assertEquals(List.of(true, false), failing);
    }

    @Test
    void a_paused_worker_must_compute_what_it_has() {
        List<Boolean> failing = failing();
        ready();
        running = 1;
        engine.health = Verdict.DRAINING;
        seconds(3);
        assertEquals(WorkerState.PAUSED, worker().state());
        engine.deep = Verdict.DRAINING;
        seconds(20);
        assertEquals(List.of(), failing, "its deep question says nothing else");
        engine.deep = Verdict.LATE;
        seconds(20);
        assertEquals(List.of(true), failing);
        assertEquals(WorkerState.UNHEALTHY, worker().state(), "its cheap question heals nothing");
    }

    @Test
    void an_idle_draining_worker_waits_for_requests_that_were_just_decided() {
        Worker w = ready();
        fleet.drain(w.id());
        monitor.tick();
        assertEquals(1, fleet.status().size());
        assertTrue(monitor.tick() > 0);
        assertEquals(0, fleet.status().size());
    }

    @Test
    void draining_ends_at_its_deadline() {
        Worker w = ready();
        running = 1;
        fleet.drain(w.id());
        round();
        advance(TIMING.drainTimeout().minusMillis(1));
        round();
        assertEquals(1, fleet.status().size());
        advance(Duration.ofMillis(1));
        round();
        assertEquals(0, fleet.status().size());
    }

    @Test
    void a_worker_that_drains_again_has_all_of_the_time_again() {
        Worker w = ready();
        running = 1;
        fleet.drain(w.id());
        round();
        fleet.resume(w.id());
        round();
        assertEquals(WorkerState.READY, worker().state());
        advance(TIMING.drainTimeout());
        round();
        fleet.drain(w.id());
        round();
        advance(TIMING.drainTimeout().minusMillis(1));
        round();
        assertEquals(1, fleet.status().size());
    }

    @Test
    void a_drained_worker_is_asked_on_stays_and_is_ready_with_the_first_answer_after_it() {
        Worker w = ready();
        WorkerSlot slot = worker().ranks().get(0).slot();
        assertTrue(fleet.hold(w.id(), "drained by an operator"));
        advance(Duration.ofMinutes(10));
        assertEquals(List.of("health"), round(), "it is not removed, however long it takes");
        engine.health = Verdict.FAILING;
        for (int i = 0; i < 3; i++) {
            advance(TIMING.healthInterval());
            round();
        }
        assertEquals(WorkerState.DRAINED, worker().state());
        assertEquals("drained by an operator", fleet.status().get(0).problem());
        engine.health = Verdict.OK;
        fleet.resume(w.id());
        assertEquals(WorkerState.UNHEALTHY, worker().state());
        assertEquals(List.of("health"), round(), "asked at once, not with the next interval");
        assertEquals(WorkerState.READY, worker().state());
        assertEquals(slot, worker().ranks().get(0).slot());
    }

    @Test
    void an_answer_that_comes_after_the_removal_is_forgotten() {
        ready();
        advance(TIMING.healthInterval());
        monitor.tick();
        fleet.remove(worker().id());
        fleet.add(WorkerSpec.of("http://a:1"));
        engine.health = Verdict.REFUSED;
        round();
        assertEquals(0, monitor.failedProbes(), "the old worker's check must not count");
        assertEquals(WorkerState.READY, worker().state());
    }

    @Test
    void a_probe_that_breaks_is_a_failed_probe() {
        FleetRegistry other = new FleetRegistry(index, String::hashCode, s -> {});
        FleetMonitor m =
                new FleetMonitor(
                        other,
                        new WorkerProbe() {
                            @Override
                            public WorkerProfile learn(WorkerSpec spec) {
                                throw new IllegalStateException("a bug");
                            }

                            @Override
                            public Health health(WorkerSpec spec, EngineKind kind) {
                                throw new IllegalStateException("a bug");
                            }
                        },
                        Runnable::run,
                        () -> now,
                        TIMING,
                        slot -> 0,
                        LifeSigns.NONE);
        other.add(WorkerSpec.of("http://b:1"));
        m.tick();
        m.tick();
        assertEquals("a bug", other.status().get(0).problem());
        assertEquals(1, m.failedProbes());
    }
}
