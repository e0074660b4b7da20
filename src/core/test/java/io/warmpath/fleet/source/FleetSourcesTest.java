package io.warmpath.fleet.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.DuplicateWorkerException;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.prefix.ReferencePrefixIndex;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FleetSourcesTest {
    private static final URI A = URI.create("http://a:1");

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final FleetRegistry fleet = new FleetRegistry(index, String::hashCode, s -> {});
    private final List<String> log = new ArrayList<>();
    private final FleetSources sources = new FleetSources(fleet, log::add);
    private final FleetSource.Feed config = sources.feed(SourceName.CONFIG);
    private final FleetSource.Feed nats = sources.feed(SourceName.NATS);
    private final FleetSource.Feed pods = sources.feed(SourceName.KUBERNETES);

    private static WorkerSpecBuilder spec(String url) {
        return new WorkerSpecBuilder(WorkerSpec.parse(url));
    }

    private WorkerStatus at(String url) {
        return fleet.status().stream()
                .filter(s -> s.worker().url().equals(URI.create(url)))
                .findFirst()
                .orElseThrow();
    }

    private WorkerState state() {
        return at("http://a:1").worker().state();
    }

    @Test
    void each_field_is_that_of_the_strongest_source_that_says_it() {
        nats.put(
                "k",
                spec("http://a:1")
                        .blockSize(32)
                        .models(Set.of("weak"))
                        .labels(Map.of("zone", "n", "rack", "7"))
                        .capacity(new Capacity(10, 20))
                        .events("tcp://a:5", "tcp://a:6", false, "t")
                        .build());
        config.put(
                "0",
                spec("http://a:1")
                        .name("big")
                        .models(Set.of("strong"))
                        .labels(Map.of("zone", "c"))
                        .capacity(new Capacity(0, 99))
                        .build());
        WorkerSpec merged = at("http://a:1").spec();
        assertEquals("big", merged.name());
        assertEquals(Set.of("strong"), merged.models());
        assertEquals(32, merged.blockSize());
        assertEquals(Map.of("zone", "c", "rack", "7"), merged.labels());
        assertEquals(new Capacity(10, 99), merged.capacity());
        assertEquals("tcp://a:6", merged.replayEndpoint());
        assertEquals(List.of(SourceName.CONFIG, SourceName.NATS), sources.sources(A));
        assertEquals("big", at("http://a:1").worker().name());
    }

    @Test
    void a_worker_is_there_until_its_last_source_lets_go() {
        nats.put("k", spec("http://a:1").build());
        config.put("0", spec("http://a:1").build());
        config.remove("0");
        assertEquals(WorkerState.STARTING, state());
        nats.remove("k");
        assertEquals(WorkerState.DRAINING, state());
        assertEquals(List.of(), sources.sources(A));
    }

    @Test
    void one_source_that_drains_is_enough_and_a_new_word_of_it_ends_that() {
        config.put("0", spec("http://a:1").build());
        pods.put("ns/p", spec("http://a:1").build());
        pods.drain("ns/p", "the pod is terminating");
        assertEquals(WorkerState.DRAINING, state());
        assertEquals("kubernetes: the pod is terminating", at("http://a:1").problem());
        config.put("0", spec("http://a:1").blockSize(8).build());
        assertEquals(WorkerState.DRAINING, state(), "others do not overrule it");
        pods.put("ns/p", spec("http://a:1").build());
        assertEquals(WorkerState.STARTING, state());
        pods.drain("ns/p", "again");
        fleet.removeDrained(at("http://a:1").worker().id());
        assertEquals(0, fleet.status().size());
        pods.remove("ns/p");
        assertEquals(WorkerState.STARTING, state(), "the configuration still names it");
    }

    @Test
    void a_drained_worker_that_is_named_again_is_not_forgotten() {
        nats.put("k", spec("http://a:1").build());
        Worker first = at("http://a:1").worker();
        nats.remove("k");
        nats.put("k2", spec("http://a:1").build());
        assertEquals(first.ranks(), at("http://a:1").worker().ranks(), "its cache is still known");
        fleet.removeDrained(first.id()); // the monitor had just decided to
        assertEquals(WorkerState.STARTING, state());
    }

    @Test
    void what_a_source_holds_stays_with_what_is_known_of_it_until_it_is_put_again() {
        pods.put("e-0/u0", spec("http://a:1").build());
        Worker first = at("http://a:1").worker();
        pods.hold("e-0/u0", "its pod is not ready");
        assertEquals(WorkerState.DRAINED, state());
        assertEquals("kubernetes: its pod is not ready", at("http://a:1").problem());
        fleet.removeDrained(first.id());
        assertEquals(first.ranks(), at("http://a:1").worker().ranks());
        assertThrows(IllegalStateException.class, () -> sources.resume(A));
        sources.drain(A, "its fan is loud");
        sources.resume(A);
        assertEquals(WorkerState.DRAINED, state(), "its source has not said otherwise");
        pods.put("e-0/u0", spec("http://a:1").build());
        assertEquals(WorkerState.STARTING, state());
        assertEquals(first.ranks(), at("http://a:1").worker().ranks());
        pods.hold("e-0/u0", "its pod is not ready");
        pods.drain("e-0/u0", "its pod is being deleted");
        assertEquals(WorkerState.DRAINING, state());
        pods.remove("e-0/u0");
        assertEquals(WorkerState.DRAINING, state());
    }

    @Test
    void another_pod_at_the_address_is_another_worker_though_all_else_is_the_same() {
        List<String> told = new ArrayList<>();
        fleet.addListener(
                new FleetListener() {
                    @Override
                    public void replaced(Worker worker) {
                        told.add(worker.name());
                    }
                });
        pods.put("e-0/u0", spec("http://a:1").name("e-0").build());
        Worker first = at("http://a:1").worker();
        pods.remove("e-0/u0");
        pods.put("e-0/u1", spec("http://a:1").name("e-0").build());
        assertNotEquals(first.ranks(), at("http://a:1").worker().ranks());
        assertEquals(WorkerState.STARTING, state());
        assertEquals(List.of("e-0"), told);
    }

    @Test
    void what_an_operator_takes_out_stays_out_until_added_or_gone_everywhere() {
        config.put("0", spec("http://a:1").build());
        sources.withdraw(A);
        assertEquals(WorkerState.DRAINING, state());
        config.put("0", spec("http://a:1").blockSize(8).build());
        assertEquals(WorkerState.DRAINING, state());
        fleet.removeDrained(at("http://a:1").worker().id());
        config.replace(Map.of("0", spec("http://a:1").build()));
        assertEquals(0, fleet.status().size());
        sources.add(spec("http://a:1").build());
        assertEquals(WorkerState.STARTING, state());

        sources.withdraw(A);
        config.remove("0");
        nats.put("k", spec("http://a:1").build());
        assertEquals(WorkerState.STARTING, state(), "a new worker at the same address");
    }

    @Test
    void what_an_operator_drains_stays_drained_until_resumed() {
        config.put("0", spec("http://a:1").build());
        sources.drain(A, "its fan is loud");
        assertEquals(WorkerState.DRAINED, state());
        assertEquals("drained by an operator: its fan is loud", at("http://a:1").problem());
        config.replace(Map.of("0", spec("http://a:1").blockSize(8).build()));
        assertEquals(WorkerState.DRAINED, state(), "the file was read again");
        config.replace(Map.of("0", spec("http://a:1").name("other").build()));
        assertEquals("other", at("http://a:1").worker().name());
        assertEquals(WorkerState.DRAINED, state(), "another worker at the same address");
        sources.drain(A, "");
        assertEquals("drained by an operator", at("http://a:1").problem());
        sources.resume(A);
        assertEquals(WorkerState.STARTING, state());
        sources.resume(A);
        assertEquals(WorkerState.STARTING, state());
    }

    @Test
    void a_drained_worker_leaves_as_others_do_and_is_then_not_drained_any_more() {
        config.put("0", spec("http://a:1").build());
        pods.put("p", spec("http://a:1").build());
        sources.drain(A, "");
        pods.drain("p", "the pod is terminating");
        assertEquals(WorkerState.DRAINING, state());
        assertThrows(IllegalStateException.class, () -> sources.resume(A));
        pods.put("p", spec("http://a:1").build());
        assertEquals(WorkerState.DRAINED, state(), "the operator has not said otherwise");
        sources.withdraw(A);
        assertEquals(WorkerState.DRAINING, state());
        sources.drain(A, "");
        assertEquals(WorkerState.DRAINING, state());
        assertThrows(IllegalStateException.class, () -> sources.resume(A));
        sources.add(spec("http://a:1").build());
        assertEquals(WorkerState.STARTING, state());
    }

    @Test
    void a_resync_takes_what_is_missing_away_and_changes_the_rest_in_place() {
        config.replace(Map.of("0", spec("http://a:1").build(), "1", spec("http://b:1").build()));
        Worker b = at("http://b:1").worker();
        config.replace(Map.of("9", spec("http://b:1").taints(List.of(Taint.parse("x"))).build()));
        assertEquals(WorkerState.DRAINING, state());
        Worker now = at("http://b:1").worker();
        assertEquals(b.ranks(), now.ranks());
        assertEquals(List.of(Taint.parse("x")), now.taints());
        assertEquals(WorkerState.STARTING, now.state());
    }

    @Test
    void a_taken_name_leaves_a_worker_out_says_so_once_and_is_tried_again() {
        config.put("0", spec("http://a:1").name("x").build());
        nats.put("k", spec("http://b:1").name("x").build());
        nats.put("k", spec("http://b:1").name("x").build());
        assertEquals(1, fleet.status().size());
        assertEquals(1, log.size(), log.toString());
        assertTrue(log.get(0).contains("http://b:1 (told by nats) is left out"), log.get(0));
        assertEquals(Set.of(URI.create("http://b:1")), sources.problems().keySet());
        fleet.remove(at("http://a:1").worker().id());
        config.remove("0");
        nats.put("other", spec("http://c:1").build());
        assertEquals("x", at("http://b:1").worker().name());
        assertEquals(Map.of(), sources.problems());
    }

    @Test
    void an_operator_cannot_add_what_is_there_but_change_it() {
        nats.put("k", spec("http://a:1").blockSize(16).build());
        assertThrows(DuplicateWorkerException.class, () -> sources.add(spec("http://a:1").build()));
        sources.change(spec("http://a:1").blockSize(64).build());
        assertEquals(64, at("http://a:1").spec().blockSize());
        assertEquals(List.of(SourceName.API, SourceName.NATS), sources.sources(A));
        nats.put("k", spec("http://a:1").blockSize(16).dpSize(2).build());
        assertEquals(64, at("http://a:1").spec().blockSize());
        assertEquals(2, at("http://a:1").spec().dpSize());
        sources.change(spec("http://a:1").labels(Map.of("zone", "b")).build());
        assertEquals(64, at("http://a:1").spec().blockSize(), "what was said before holds");
        nats.put("k2", spec("http://b:1").name("taken").build());
        assertThrows(
                DuplicateWorkerException.class,
                () -> sources.change(spec("http://a:1").name("taken").build()));
        assertEquals(64, at("http://a:1").spec().blockSize(), "as before");
    }

    @Test
    void another_name_makes_another_worker() {
        config.put("0", spec("http://a:1").name("x").build());
        config.put("0", spec("http://a:1").name("y").build());
        assertEquals(List.of("y"), fleet.status().stream().map(s -> s.worker().name()).toList());
    }

    @Test
    void whatever_is_told_in_whatever_order_the_fleet_is_what_is_named_at_the_end() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int step = 0; step < 3_000; step++) {
            FleetSource.Feed feed = List.of(config, nats, pods).get(random.nextInt(3));
            String key = "k" + random.nextInt(4);
            String url = "http://h" + random.nextInt(5) + ":1";
            switch (random.nextInt(6)) {
                case 0 -> feed.remove(key);
                case 1 -> feed.drain(key, "test");
                case 3 -> feed.hold(key, "test");
                case 2 -> fleet.status().forEach(s -> fleet.removeDrained(s.worker().id()));
                default -> feed.put(key, spec(url).blockSize(random.nextInt(3)).build());
            }
            for (WorkerStatus s : fleet.status()) {
                if (s.worker().state() != WorkerState.DRAINING) {
                    assertTrue(
                            !sources.sources(s.worker().url()).isEmpty(),
                            s.worker().url() + " is named by nobody; seed " + seed);
                }
            }
        }
        for (FleetSource.Feed feed : List.of(config, nats, pods)) {
            feed.replace(Map.of());
        }
        assertTrue(
                fleet.status().stream().allMatch(s -> s.worker().state() == WorkerState.DRAINING),
                "seed " + seed);
        config.replace(Map.of("0", spec("http://h1:1").build()));
        assertEquals(WorkerState.STARTING, at("http://h1:1").worker().state(), "seed " + seed);
    }
}
