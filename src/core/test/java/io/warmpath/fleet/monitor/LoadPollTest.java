package io.warmpath.fleet.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Profiles;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.ProbeException;
import io.warmpath.fleet.probe.WorkerProbe;
import io.warmpath.prefix.ReferencePrefixIndex;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What engines say against what is booked, in virtual time. */
class LoadPollTest {
    private static final Duration INTERVAL = Duration.ofSeconds(2);

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final FleetRegistry fleet = new FleetRegistry(index, String::hashCode, s -> {});
    private final Queue<Runnable> probes = new ArrayDeque<>();
    private final List<String> told = new ArrayList<>();
    private final List<List<EngineLoad>> heard = new ArrayList<>();
    private long now = 1_000_000_000L;
    private long booked;
    private List<EngineLoad> said = List.of();
    private boolean down;
    private Runnable whileAsked = () -> {};
    private Duration interval = INTERVAL;
    private final LoadPoll poll =
            new LoadPoll(
                    fleet,
                    new Engine(),
                    probes::add,
                    () -> now,
                    () -> interval.toNanos(),
                    slot -> booked,
                    (slot, requests, blocks) -> told.add(requests + " " + blocks),
                    (loads, worker) -> heard.add(loads));

    private final class Engine implements WorkerProbe {
        @Override
        public WorkerProfile learn(WorkerSpec spec) {
            throw new AssertionError("is not asked");
        }

        @Override
        public Health health(WorkerSpec spec, EngineKind kind) {
            throw new AssertionError("is not asked");
        }

        @Override
        public List<EngineLoad> load(WorkerSpec spec, EngineKind kind) throws ProbeException {
            whileAsked.run();
            if (down) {
                throw new ProbeException("connection refused");
            }
            return said;
        }
    }

    private Worker ready(EngineKind kind) {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        fleet.learnt(w.id(), Profiles.of(kind, ServedModels.of(Set.of("m"))), false);
        return w;
    }

    /** One question and its answer; returns what the load book was last told. */
    private String round() {
        poll.tick();
        while (!probes.isEmpty()) {
            probes.remove().run();
        }
        poll.tick();
        now += INTERVAL.toNanos();
        String last = told.isEmpty() ? "" : told.getLast();
        told.clear();
        return last;
    }

    @Test
    void what_was_seen_twice_beyond_what_is_booked_is_load_from_outside() {
        Worker w = ready(EngineKind.SGLANG);
        booked = 1;
        said = List.of(new EngineLoad(0, 3, 1, 640, -1));
        assertEquals("0 0.0", round(), "once may be chance");
        assertEquals("3 30.0", round(), "three of four requests, and of 40 blocks");
        assertEquals(Map.of(0, new LoadPoll.Seen(said.get(0), 3)), poll.last(w.id()));
        assertEquals(List.of(said, said), heard);
        said = List.of(new EngineLoad(0, 2, 0, 320, -1));
        assertEquals("1 10.0", round());
        booked = 2;
        assertEquals("0 0.0", round());
    }

    @Test
    void a_request_that_comes_or_ends_while_the_engine_is_asked_is_not_from_outside() {
        ready(EngineKind.SGLANG);
        said = List.of(new EngineLoad(0, 2, 0, 0, -1));
        booked = 2;
        for (int i = 0; i < 5; i++) {
            whileAsked = () -> booked = 0;
            booked = 2;
            assertEquals("0 0.0", round());
            whileAsked = () -> booked = 2;
            booked = 0;
            assertEquals("0 0.0", round());
        }
    }

    @Test
    void the_interval_may_change_between_two_questions() {
        ready(EngineKind.SGLANG);
        said = List.of(new EngineLoad(0, 0, 0, 0, -1));
        interval = INTERVAL.multipliedBy(5);
        round();
        for (int i = 0; i < 4; i++) {
            poll.tick();
            assertEquals(0, probes.size(), "asked after " + i);
            now += INTERVAL.toNanos();
        }
        poll.tick();
        assertEquals(1, probes.size());
        interval = INTERVAL;
        round();
        poll.tick();
        assertEquals(1, probes.size());
    }

    @Test
    void an_answer_that_grows_old_is_dropped() {
        Worker w = ready(EngineKind.VLLM);
        said = List.of(new EngineLoad(0, 3, 0, -1, 0.5));
        round();
        assertEquals("3 0.0", round(), "no capacity, no blocks");
        down = true;
        assertEquals("", round());
        assertEquals(1, poll.last(w.id()).size());
        assertEquals("", round());
        assertEquals("0 0.0", round());
        assertEquals(Map.of(), poll.last(w.id()));
    }

    @Test
    void ranks_are_told_by_the_workers_numbers_and_others_not_at_all() {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        fleet.learnt(w.id(), numbered(new EngineRanks(2, 2, false)), false);
        EngineLoad none = new EngineLoad(0, 9, 9, -1, 0.9);
        said = List.of(none, none.as(1), none.as(2), new EngineLoad(3, 3, 0, -1, 0.5), none.as(4));
        round();
        assertEquals("3 0.0", round(), "the last rank");
        List<EngineLoad> own = List.of(none, new EngineLoad(1, 3, 0, -1, 0.5));
        assertEquals(List.of(own, own), heard);
        assertEquals(Set.of(0, 1), poll.last(w.id()).keySet());
        assertEquals(18, poll.last(w.id()).get(0).outside());
    }

    private static WorkerProfile numbered(EngineRanks ranks) {
        return new WorkerProfile(
                EngineKind.VLLM,
                "0.32.0",
                ServedModels.of(Set.of("m")),
                16,
                false,
                ranks,
                Capacity.UNKNOWN,
                List.of(),
                Offload.NONE,
                PriorityOrder.NOT_TAKEN,
                SessionSupport.STICKY,
                Disaggregation.NONE,
                CacheTraits.PLAIN,
                List.of(),
                List.of(),
                "");
    }

    @Test
    void only_workers_that_get_requests_and_can_tell_are_asked() {
        Worker w = ready(EngineKind.SGLANG);
        said = List.of(new EngineLoad(0, 1, 0, 16, -1));
        round();
        assertEquals("1 1.0", round());
        fleet.unhealthy(w.id(), "late");
        assertEquals("0 0.0", round(), "and what was said is forgotten");
        assertEquals(List.of(said, said, List.of()), heard);
        assertEquals("", round());
        fleet.remove(w.id());
        ready(EngineKind.OPENAI);
        said = List.of();
        assertEquals("", round());
        assertEquals(0, probes.size());
    }
}
