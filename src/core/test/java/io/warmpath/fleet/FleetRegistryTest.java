package io.warmpath.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.WorkerSlot;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FleetRegistryTest {
    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final List<WorkerSlot> opened = new ArrayList<>();
    private final FleetRegistry fleet = new FleetRegistry(index, String::hashCode, opened::add);
    private final Journal journal = new Journal();

    FleetRegistryTest() {
        fleet.addListener(journal);
    }

    /** Writes down what listeners are told. */
    private static final class Journal implements FleetListener {
        final List<String> lines = new ArrayList<>();

        @Override
        public void attached(Worker w, List<EventEndpoint> events, String noEvents) {
            lines.add("attached " + w.name() + " " + w.ranks().size() + " " + events.size());
        }

        @Override
        public void detached(Worker w) {
            lines.add("detached " + w.name());
        }

        @Override
        public void added(Worker w) {
            lines.add("added " + w.name());
        }

        @Override
        public void changed(Worker before, Worker after, String why) {
            lines.add(after.name() + " " + before.state() + "->" + after.state());
        }

        @Override
        public void removed(Worker w) {
            lines.add("removed " + w.name());
        }

        List<String> take() {
            List<String> all = List.copyOf(lines);
            lines.clear();
            return all;
        }
    }

    private static WorkerProfile profile(int dpSize, String... models) {
        return new WorkerProfile(
                EngineKind.SGLANG,
                "1",
                ServedModels.of(Set.of(models)),
                16,
                false,
                EngineRanks.of(dpSize),
                Capacity.UNKNOWN,
                EventEndpoint.perRank("tcp://h:5557", null, false, "", dpSize),
                Offload.NONE,
                PriorityOrder.NOT_TAKEN,
                SessionSupport.STICKY,
                Disaggregation.NONE,
                CacheTraits.PLAIN,
                List.of(),
                List.of(),
                "");
    }

    private static WorkerSpec named(String url, String name, OptionalLong id, int dpSize) {
        return new WorkerSpec(
                URI.create(url),
                name,
                id,
                null,
                Set.of("m"),
                0,
                dpSize,
                null,
                null,
                false,
                "",
                List.of(Taint.parse("gpu=a:NoSchedule")),
                null,
                null,
                Capacity.UNKNOWN,
                Map.of(),
                null,
                0,
                null,
                0);
    }

    private static WorkerSpec ofKind(String url, EngineKind kind) {
        return new WorkerSpec(
                URI.create(url),
                null,
                OptionalLong.empty(),
                kind,
                Set.of(),
                0,
                0,
                null,
                null,
                false,
                "",
                List.of(),
                null,
                null,
                Capacity.UNKNOWN,
                Map.of(),
                null,
                0,
                null,
                0);
    }

    private Worker worker(String name) {
        return fleet.find(name).orElseThrow().worker();
    }

    @Test
    void a_new_worker_is_known_but_gets_nothing_until_it_answered() {
        Worker w = fleet.add(named("http://a:1", null, OptionalLong.empty(), 0));
        assertEquals("w0", w.name());
        assertEquals("http://a:1".hashCode(), w.id());
        assertEquals(WorkerState.STARTING, w.state());
        assertTrue(fleet.snapshot().knows("m"));
        assertEquals(List.of(), fleet.snapshot().candidates("m"));

        fleet.learnt(w.id(), profile(1, "m"), false);
        assertEquals(1, fleet.snapshot().candidates("m").size());
        assertEquals(List.of("added w0", "attached w0 1 1", "w0 STARTING->READY"), journal.take());
    }

    @Test
    void one_that_encodes_media_gets_no_request_and_nobody_follows_its_cache() {
        Worker w =
                fleet.add(
                        new WorkerSpecBuilder(URI.create("http://a:1"))
                                .models(Set.of("m"))
                                .role(Role.ENCODE, 0)
                                .build());
        assertFalse(fleet.snapshot().knows("m"));
        assertEquals(0, fleet.snapshot().unlearnt());
        WorkerProfile encoder =
                Profiles.of(
                        EngineKind.OPENAI,
                        ServedModels.NONE,
                        new Disaggregation(Role.ENCODE, false, 0, ""));
        fleet.learnt(w.id(), encoder, false);
        assertEquals(WorkerState.READY, worker("w0").state());
        assertFalse(fleet.snapshot().anyAvailable());
        assertEquals(List.of("added w0", "w0 STARTING->READY"), journal.take());
        fleet.learnt(w.id(), profile(1, "m"), false); // another record: it does whole requests
        assertEquals(1, fleet.snapshot().candidates("m").size());
        assertEquals(List.of("attached w0 1 1", "w0 READY->READY"), journal.take());
        fleet.learnt(w.id(), encoder, false);
        assertEquals(List.of(), fleet.snapshot().candidates("m"));
        assertEquals(List.of("detached w0", "w0 READY->READY"), journal.take());
        assertEquals(1, index.stats().slots());
    }

    @Test
    void further_ranks_get_slots_and_the_first_keeps_its_own() {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        WorkerSlot first = w.ranks().get(0).slot();
        fleet.learnt(w.id(), profile(3, "m"), false);
        List<Candidate> candidates = fleet.snapshot().candidates("m");
        assertEquals(3, candidates.size());
        assertEquals(first, candidates.get(0).slot());
        assertEquals(3, index.stats().slots());
        assertEquals(opened, candidates.stream().map(Candidate::slot).toList());
    }

    @Test
    void workers_of_one_configured_kind_share_a_hash_domain_also_after_a_restart() {
        List<Object> domains = new ArrayList<>();
        PrefixIndex watched =
                (PrefixIndex)
                        Proxy.newProxyInstance(
                                PrefixIndex.class.getClassLoader(),
                                new Class<?>[] {PrefixIndex.class},
                                (proxy, method, arguments) -> {
                                    if (method.getName().equals("open")) {
                                        domains.add(arguments[0]);
                                    }
                                    return method.invoke(index, arguments);
                                });
        FleetRegistry registry = new FleetRegistry(watched, String::hashCode, slot -> {});
        Worker sglang = registry.add(ofKind("http://a:1", EngineKind.SGLANG));
        registry.add(ofKind("http://b:1", EngineKind.VLLM));
        registry.add(ofKind("http://c:1", EngineKind.SGLANG));
        Worker unknown = registry.add(WorkerSpec.of("http://d:1"));
        registry.learnt(sglang.id(), profile(2, "m"), false);
        registry.learnt(unknown.id(), profile(1, "m"), false);
        registry.learnt(unknown.id(), profile(1, "m"), true);
        assertEquals(List.of(1, 2, 1, 0, 1, 0), domains);
    }

    @Test
    void ranks_that_were_too_many_give_their_slots_back() {
        Worker w = fleet.add(named("http://a:1", null, OptionalLong.empty(), 4));
        assertEquals(4, index.stats().slots());
        fleet.learnt(w.id(), profile(1, "m"), false);
        assertEquals(1, index.stats().slots());
    }

    @Test
    void a_restarted_worker_has_new_slots_and_its_old_ones_are_closed() {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        fleet.learnt(w.id(), profile(2, "m"), false);
        Set<WorkerSlot> before = slots();
        fleet.unhealthy(w.id(), "connection refused");
        journal.take();

        fleet.learnt(w.id(), profile(2, "m", "n"), true);
        Set<WorkerSlot> after = slots();
        Set<WorkerSlot> both = new HashSet<>(before);
        both.retainAll(after);
        assertEquals(Set.of(), both, "a slot of the old process is still in use");
        assertEquals(2, index.stats().slots());
        assertEquals(WorkerState.READY, worker("w0").state());
        assertEquals(Set.of("m", "n"), worker("w0").models());
        assertEquals(1, fleet.restarts());
        assertEquals(
                List.of("detached w0", "attached w0 2 2", "w0 UNHEALTHY->READY"), journal.take());
    }

    private Set<WorkerSlot> slots() {
        Set<WorkerSlot> slots = new HashSet<>();
        worker("w0").ranks().forEach(r -> slots.add(r.slot()));
        return slots;
    }

    @Test
    void an_unhealthy_worker_is_a_last_resort_and_keeps_its_slots() {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        fleet.learnt(w.id(), profile(1, "m"), false);
        Set<WorkerSlot> before = slots();
        fleet.unhealthy(w.id(), "no answer");
        assertEquals(List.of(), fleet.snapshot().candidates("m"));
        assertEquals(1, fleet.snapshot().lastResort("m").size());
        assertEquals("no answer", fleet.find("w0").orElseThrow().problem());
        fleet.healthy(w.id());
        assertEquals(1, fleet.snapshot().candidates("m").size());
        assertEquals("", fleet.find("w0").orElseThrow().problem());
        assertEquals(before, slots());
    }

    @Test
    void a_draining_worker_gets_nothing_whatever_it_answers() {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        fleet.learnt(w.id(), profile(1, "m"), false);
        assertTrue(fleet.drain(w.id()));
        fleet.healthy(w.id());
        fleet.unhealthy(w.id(), "x");
        fleet.learnt(w.id(), profile(1, "m"), false);
        assertEquals(WorkerState.DRAINING, worker("w0").state());
        assertEquals(List.of(), fleet.snapshot().candidates("m"));
        assertEquals(List.of(), fleet.snapshot().lastResort("m"));
        assertFalse(fleet.drain(w.id() + 1));
    }

    @Test
    void a_drained_worker_gets_nothing_whatever_it_answers_and_stays() {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        fleet.learnt(w.id(), profile(1, "m"), false);
        Set<WorkerSlot> before = slots();
        assertTrue(fleet.hold(w.id(), "off"));
        fleet.healthy(w.id());
        fleet.unhealthy(w.id(), "x");
        fleet.paused(w.id(), "y");
        fleet.suspend(w.id(), "z");
        fleet.learnt(w.id(), profile(1, "m"), false);
        fleet.removeDrained(w.id());
        assertEquals(WorkerState.DRAINED, worker("w0").state());
        assertEquals("off", fleet.find("w0").orElseThrow().problem());
        assertEquals(List.of(), fleet.snapshot().candidates("m"));
        assertEquals(List.of(), fleet.snapshot().lastResort("m"));
        assertEquals(Map.of("w0", "off"), fleet.problems());
        assertEquals(before, slots(), "its cache is still known");
        fleet.learnt(w.id(), profile(1, "m"), true);
        assertEquals(WorkerState.DRAINED, worker("w0").state(), "its engine is a new process");
        assertTrue(fleet.resume(w.id()));
        assertEquals(WorkerState.UNHEALTHY, worker("w0").state());
        assertFalse(fleet.hold(w.id() + 1, ""));
    }

    @Test
    void a_removed_worker_is_never_returned_and_frees_its_slots() {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        fleet.learnt(w.id(), profile(2, "m"), false);
        journal.take();
        fleet.remove(w.id());
        fleet.remove(w.id());
        assertEquals(List.of("detached w0", "removed w0"), journal.take());
        assertFalse(fleet.snapshot().knows("m"));
        assertEquals(0, index.stats().slots());
        fleet.learnt(w.id(), profile(1, "m"), false); // the answer comes after the removal
        assertEquals(List.of(), fleet.snapshot().workers());
        assertEquals(0, index.stats().slots());
    }

    @Test
    void subscriptions_have_stopped_before_their_slots_are_closed() {
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        fleet.learnt(w.id(), profile(1, "m"), false);
        List<Integer> openWhenDetached = new ArrayList<>();
        fleet.addListener(
                new FleetListener() {
                    @Override
                    public void detached(Worker gone) {
                        openWhenDetached.add(index.stats().slots());
                    }
                });
        fleet.learnt(w.id(), profile(1, "m"), true);
        fleet.remove(w.id());
        assertEquals(List.of(2, 1), openWhenDetached);
    }

    @Test
    void url_name_and_id_are_unique() {
        fleet.add(named("http://a:1", "a", OptionalLong.of(1), 0));
        refused(named("http://a:1/", "b", OptionalLong.of(2), 0), "the URL http://a:1");
        refused(named("http://b:1", "a", OptionalLong.of(2), 0), "named a");
        refused(named("http://b:1", "b", OptionalLong.of(1), 0), "the id 1");
        assertEquals(1, fleet.snapshot().workers().size());
        assertEquals(1, index.stats().slots());
    }

    private void refused(WorkerSpec spec, String why) {
        DuplicateWorkerException e =
                assertThrows(DuplicateWorkerException.class, () -> fleet.add(spec));
        assertTrue(e.getMessage().contains(why), e.getMessage());
    }

    @Test
    void given_names_are_stepped_over() {
        fleet.add(named("http://a:1", "w1", OptionalLong.empty(), 0));
        assertEquals("w0", fleet.add(WorkerSpec.of("http://b:1")).name());
        assertEquals("w2", fleet.add(WorkerSpec.of("http://c:1")).name());
    }

    @Test
    void a_worker_is_found_by_name_or_unsigned_id() {
        fleet.add(named("http://a:1", "a", OptionalLong.of(-1), 0));
        assertTrue(fleet.find("a").isPresent());
        assertTrue(fleet.find("18446744073709551615").isPresent());
        assertFalse(fleet.find("-1").isPresent());
    }

    @Test
    void each_change_is_a_new_version() {
        long v0 = fleet.snapshot().version();
        Worker w = fleet.add(WorkerSpec.of("http://a:1"));
        long v1 = fleet.snapshot().version();
        fleet.unhealthy(w.id(), "starting");
        fleet.unhealthy(w.id(), "starting");
        long v2 = fleet.snapshot().version();
        assertNotEquals(v0, v1);
        assertEquals(v1 + 1, v2, "the same problem told twice changes nothing");
    }

    @Test
    void specs_that_make_no_sense_are_refused_with_a_reason() {
        for (String url : List.of("ftp://a", "a:1", "http://", "http://u@a", "http://a?x=1")) {
            assertThrows(IllegalArgumentException.class, () -> WorkerSpec.of(url), url);
        }
        assertEquals("http://a:1/base", WorkerSpec.of(" http://a:1/base// ").url().toString());
        assertThrows(
                IllegalArgumentException.class,
                () -> named("http://a:1", "a b", OptionalLong.empty(), 0));
    }

    @Test
    void endpoints_count_up_by_rank() {
        assertEquals("tcp://[::1]:12", EventEndpoint.offsetPort("tcp://[::1]:10", 2));
        assertEquals("ipc:///tmp/x", EventEndpoint.offsetPort("ipc:///tmp/x", 0));
        assertThrows(
                IllegalArgumentException.class, () -> EventEndpoint.offsetPort("ipc:///tmp/x", 1));
        assertThrows(
                IllegalArgumentException.class, () -> EventEndpoint.offsetPort("tcp://h:65535", 1));
        URI worker = URI.create("http://10.0.0.1:8000");
        assertEquals("tcp://10.0.0.1:5", EventEndpoint.reachable("tcp://0.0.0.0:5", worker));
        assertEquals("tcp://10.0.0.1:5", EventEndpoint.reachable("tcp://[::]:5", worker));
        assertEquals("tcp://other:5", EventEndpoint.reachable("tcp://other:5", worker));
    }
}
