package io.warmpath.fleet.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.probe.WorkerProbe;
import io.warmpath.fleet.probe.WorkerProbe.Verdict;
import io.warmpath.prefix.ReferencePrefixIndex;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Workers that have left with requests, on a clock of the test. */
class LeftWorkersTest {
    private static final FleetMonitor.Timing TIMING =
            new FleetMonitor.Timing(
                    Duration.ofSeconds(2),
                    Duration.ofMillis(500),
                    2,
                    Duration.ofMillis(250),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(60));

    private final FleetRegistry fleet =
            new FleetRegistry(new ReferencePrefixIndex(), String::hashCode, s -> {});
    private final Queue<Runnable> probes = new ArrayDeque<>();
    private final List<String> asked = new ArrayList<>();
    private final List<String> told = new ArrayList<>();
    private long now = 1_000_000_000L;
    private boolean running = true;
    private long sign; // of life, the last one
    private Verdict cheap = Verdict.OK;
    private Verdict deep = Verdict.OK;
    private final LeftWorkers left =
            new LeftWorkers(
                    fleet,
                    new WorkerProbe() {
                        @Override
                        public WorkerProfile learn(WorkerSpec spec) {
                            throw new IllegalStateException("nobody learns from one that has left");
                        }

                        @Override
                        public Health health(WorkerSpec spec, EngineKind kind) {
                            asked.add("health " + spec.url());
                            return new Health(cheap, "");
                        }

                        @Override
                        public Health deepHealth(WorkerSpec spec, EngineKind kind) {
                            asked.add("deep " + spec.url());
                            return new Health(deep, "");
                        }
                    },
                    probes::add,
                    () -> now,
                    TIMING,
                    slots -> running,
                    (worker, otherwise) -> sign - otherwise > 0 ? sign : otherwise);

    LeftWorkersTest() {
        left.seenToBy(
                new LeftWorkers.Requests() {
                    @Override
                    public void lost(Worker worker) {
                        told.add("lost " + worker.url());
                    }

                    @Override
                    public void ended(Worker worker) {
                        told.add("ended " + worker.url());
                    }
                });
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        fleet.remove(w.id());
    }

    /** Passes in halves; returns what was asked. */
    private List<String> seconds(int count) {
        asked.clear();
        for (int i = 0; i < 2 * count; i++) {
            now += Duration.ofMillis(500).toNanos();
            assertTrue(left.tick() > 0);
            while (!probes.isEmpty()) {
                probes.remove().run();
                left.tick();
            }
        }
        return List.copyOf(asked);
    }

    @Test
    void it_is_asked_until_its_last_request_has_ended() {
        assertTrue(seconds(8).contains("health http://a:1"));
        assertEquals(List.of(), told);
        running = false;
        seconds(1);
        assertEquals(List.of("ended http://a:1"), told);
        assertEquals(List.of(), seconds(60));
    }

    @Test
    void one_that_does_not_answer_is_lost_once() {
        cheap = Verdict.LATE;
        seconds(2);
        assertEquals(List.of("lost http://a:1"), told);
        assertEquals(List.of(), seconds(60), "there is nothing more to know");
        running = false;
        seconds(1);
        assertEquals(List.of("lost http://a:1", "ended http://a:1"), told);
    }

    @Test
    void one_that_ends_finishes_what_it_has() {
        for (Verdict seen :
                List.of(
                        Verdict.UNAVAILABLE,
                        Verdict.DRAINING,
                        Verdict.REFUSED,
                        Verdict.NOT_ASKED)) {
            cheap = seen;
            deep = seen;
            seconds(20);
        }
        assertEquals(List.of(), told);
    }

    @Test
    void one_that_sends_while_it_is_asked_is_only_busy() {
        cheap = Verdict.LATE;
        for (int i = 0; i < 20; i++) {
            now += Duration.ofMillis(500).toNanos();
            left.tick();
            sign = now + 1;
            while (!probes.isEmpty()) {
                probes.remove().run();
                left.tick();
            }
        }
        assertEquals(List.of(), told);
    }

    @Test
    void one_that_is_quiet_must_compute() {
        deep = Verdict.FAILING;
        assertTrue(seconds(9).stream().allMatch("health http://a:1"::equals));
        assertEquals(List.of(), told);
        assertTrue(seconds(4).contains("deep http://a:1"));
        assertEquals(List.of("lost http://a:1"), told);
    }

    @Test
    void who_came_to_its_address_is_left_alone() {
        fleet.add(WorkerSpec.of("http://a:1"));
        running = false;
        seconds(2);
        assertEquals(List.of(), told);
    }
}
