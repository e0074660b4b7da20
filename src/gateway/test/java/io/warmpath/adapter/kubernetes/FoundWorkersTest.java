package io.warmpath.adapter.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Place;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.WorkerSpec;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FoundWorkersTest {
    private static final Map<String, Integer> PORTS =
            Map.of("http", 30000, "kv-events", 5557, "kv-replay", 5573);

    private static FoundWorkers found(List<ObjectNode> slices, ObjectNode... pods) {
        Map<String, Pod> byName = new HashMap<>();
        for (ObjectNode pod : pods) {
            Pod p = Pod.of(pod);
            byName.put(p.name(), p);
        }
        return FoundWorkers.of(slices.stream().map(Slice::of).toList(), byName);
    }

    private static ObjectNode pod(Map<String, String> annotations) {
        ObjectNode pod = Objects.pod("e-0", annotations);
        pod.withObject("metadata").put("uid", "u1");
        return pod;
    }

    private static ObjectNode slice(Map<String, Integer> ports) {
        return Objects.serving(Objects.slice("s", "IPv4", ports), "10.0.0.1", "e-0");
    }

    private static WorkerSpec only(FoundWorkers found) {
        assertEquals(Map.of(), found.problems());
        assertEquals(1, found.workers().size(), found.toString());
        return found.workers().values().iterator().next().spec();
    }

    private static String problem(FoundWorkers found) {
        assertEquals(Map.of(), found.workers());
        return found.problems().values().iterator().next();
    }

    @Test
    void annotations_are_the_fields_of_a_worker() {
        WorkerSpec spec =
                only(
                        found(
                                List.of(slice(PORTS)),
                                pod(
                                        Map.of(
                                                "warmpath.io/kind", "vllm",
                                                "warmpath.io/models", "a, b",
                                                "warmpath.io/block-size", "16",
                                                "warmpath.io/dp-size", "4",
                                                "warmpath.io/topic", "kv@",
                                                "warmpath.io/taints", "pool=spot:PreferNoSchedule",
                                                "prometheus.io/scrape", "true"))));
        assertEquals(EngineKind.VLLM, spec.kind());
        assertEquals(Set.of("a", "b"), spec.models());
        assertEquals(16, spec.blockSize());
        assertEquals(4, spec.dpSize());
        assertEquals("kv@", spec.topic());
        assertEquals(List.of(Taint.parse("pool=spot:PreferNoSchedule")), spec.taints());
        assertEquals("e-0", spec.name());
    }

    @Test
    void a_role_is_annotated_with_the_port_where_its_half_is_met() {
        WorkerSpec spec =
                only(
                        found(
                                List.of(slice(PORTS)),
                                pod(
                                        Map.of(
                                                "warmpath.io/role", "prefill",
                                                "warmpath.io/bootstrap-port", "8998"))));
        assertEquals(Role.PREFILL, spec.role());
        assertEquals(8998, spec.bootstrapPort());
    }

    private static ObjectNode labelled(String role, Map<String, String> annotations) {
        return Objects.labelled(pod(annotations), "llm-d.ai/role", role);
    }

    @Test
    void a_role_may_be_llm_ds_label() {
        Map<String, Role> roles =
                Map.of(
                        "prefill", Role.PREFILL,
                        "encode-prefill", Role.PREFILL,
                        "decode", Role.DECODE,
                        "encode", Role.ENCODE);
        roles.forEach(
                (label, role) -> {
                    WorkerSpec spec = only(found(List.of(slice(PORTS)), labelled(label, Map.of())));
                    assertEquals(role, spec.role(), label);
                    assertEquals(List.of(), spec.taints());
                });
        for (String label : List.of("both", "prefill-decode", "encode-prefill-decode")) {
            FoundWorkers found = found(List.of(slice(PORTS)), labelled(label, Map.of()));
            assertNull(only(found).role(), label);
            assertEquals(Map.of(), found.wrong(), label);
        }
    }

    @Test
    void our_annotation_goes_before_llm_ds_label() {
        Map<String, String> ours = Map.of("warmpath.io/role", "decode");
        for (String label : List.of("prefill", "encode", "nothing")) {
            FoundWorkers found = found(List.of(slice(PORTS)), labelled(label, ours));
            assertEquals(Role.DECODE, only(found).role(), label);
            assertEquals(List.of(), only(found).taints(), label);
            assertEquals(Map.of(), found.wrong(), label);
        }
    }

    @Test
    void a_label_of_no_known_role_is_told_and_the_pod_is_a_worker() {
        FoundWorkers found = found(List.of(slice(PORTS)), labelled("Prefill", Map.of()));
        assertNull(only(found).role());
        assertEquals(List.of(), only(found).taints());
        assertEquals(found.workers().keySet(), found.wrong().keySet());
        assertTrue(found.wrong().toString().contains("llm-d.ai/role=Prefill"), found.toString());
    }

    @Test
    void what_is_not_annotated_is_left_to_the_engine() {
        WorkerSpec spec = only(found(List.of(slice(Map.of("http", 8000))), pod(Map.of())));
        assertNull(spec.kind());
        assertNull(spec.eventsEndpoint());
        assertNull(spec.replayEndpoint());
        assertNull(spec.role());
        assertEquals(Set.of(), spec.models());
        assertEquals(0, spec.blockSize());
    }

    @Test
    void the_only_port_needs_no_name() {
        assertEquals(
                URI.create("http://10.0.0.1:8000"),
                only(found(List.of(slice(Map.of("", 8000))), pod(Map.of()))).url());
        assertEquals(
                URI.create("http://10.0.0.1:8000"),
                only(found(List.of(slice(Map.of("api", 8000, "kv-events", 5557))), pod(Map.of())))
                        .url());
    }

    @Test
    void two_ports_without_a_hint_are_a_problem() {
        String problem = problem(found(List.of(slice(Map.of("a", 1, "b", 2))), pod(Map.of())));
        assertTrue(problem.contains("warmpath.io/port"), problem);
    }

    @Test
    void an_annotation_names_a_port_by_number_or_name() {
        ObjectNode pod =
                Objects.named(
                        pod(
                                Map.of(
                                        "warmpath.io/port", "api",
                                        "warmpath.io/scheme", "https",
                                        "warmpath.io/events-port", "6000",
                                        "warmpath.io/replay-port", "again")),
                        "again",
                        6001);
        WorkerSpec spec = only(found(List.of(slice(Map.of("api", 8443, "http", 1))), pod));
        assertEquals(URI.create("https://10.0.0.1:8443"), spec.url());
        assertEquals("tcp://10.0.0.1:6000", spec.eventsEndpoint());
        assertEquals("tcp://10.0.0.1:6001", spec.replayEndpoint());
    }

    @Test
    void ports_may_be_named_at_the_container_alone() {
        ObjectNode pod = Objects.named(pod(Map.of()), "kv-events", 7000);
        assertEquals(
                "tcp://10.0.0.1:7000",
                only(found(List.of(slice(Map.of("http", 8000))), pod)).eventsEndpoint());
    }

    @Test
    void a_port_that_is_none_is_a_problem() {
        for (String wrong : List.of("0", "65536", "api", "80 ", "-1")) {
            String problem =
                    problem(found(List.of(slice(PORTS)), pod(Map.of("warmpath.io/port", wrong))));
            assertTrue(problem.contains("warmpath.io/port"), problem);
        }
    }

    @Test
    void a_pod_cannot_be_given_what_is_one_workers_own() {
        for (String field : List.of("url", "name", "id", "labels")) {
            String problem =
                    problem(found(List.of(slice(PORTS)), pod(Map.of("warmpath.io/" + field, "x"))));
            assertTrue(problem.contains("warmpath.io/" + field), problem);
        }
    }

    @Test
    void a_typing_error_is_a_problem_and_not_ignored() {
        String problem =
                problem(found(List.of(slice(PORTS)), pod(Map.of("warmpath.io/blocksize", "16"))));
        assertTrue(problem.contains("blocksize"), problem);
    }

    @Test
    void several_ways_lead_to_one_worker() {
        ObjectNode six = Objects.serving(Objects.slice("s6", "IPv6", PORTS), "fd00::1", "e-0");
        ObjectNode other =
                Objects.serving(
                        Objects.slice("t", "IPv4", Map.of("http", 30000)), "10.0.0.1", "e-0");
        WorkerSpec spec = only(found(List.of(six, other, slice(PORTS)), pod(Map.of())));
        assertEquals(URI.create("http://10.0.0.1:30000"), spec.url());
        assertEquals("tcp://10.0.0.1:5557", spec.eventsEndpoint());
        assertEquals(
                URI.create("http://[fd00::1]:30000"),
                only(found(List.of(six), pod(Map.of()))).url());
    }

    @Test
    void one_way_that_serves_is_enough() {
        ObjectNode not =
                Objects.endpoint(
                        Objects.slice("a", "IPv4", PORTS), "10.0.0.1", "e-0", false, false);
        FoundWorkers found = found(List.of(not, slice(PORTS)), pod(Map.of()));
        assertTrue(found.workers().values().iterator().next().serves());
    }

    @Test
    void conditions_that_are_not_said_mean_yes() {
        ObjectNode slice = slice(PORTS);
        ((ObjectNode) slice.at("/endpoints/0")).remove("conditions");
        FoundWorkers found = found(List.of(slice), pod(Map.of()));
        assertTrue(found.workers().values().iterator().next().serves());
    }

    @Test
    void a_terminating_endpoint_leaves_though_it_serves() {
        ObjectNode slice =
                Objects.endpoint(Objects.slice("s", "IPv4", PORTS), "10.0.0.1", "e-0", true, true);
        FoundWorkers found = found(List.of(slice), pod(Map.of()));
        assertEquals(
                "its endpoint is terminating",
                found.workers().values().iterator().next().leaving());
    }

    private static FoundWorkers.Found withStatus(String phase, String ip, String ready) {
        ObjectNode pod = Objects.running(pod(Map.of()), "10.0.0.1", true);
        ObjectNode status = (ObjectNode) pod.get("status");
        status.put("phase", phase);
        if (ip.isEmpty()) {
            status.remove("podIP");
        }
        ((ObjectNode) status.at("/conditions/0")).put("status", ready);
        return found(List.of(slice(PORTS)), pod).workers().values().iterator().next();
    }

    @Test
    void the_pod_itself_knows_before_its_slice() {
        assertTrue(withStatus("Running", "10.0.0.1", "True").serves());
        for (String ready : List.of("False", "Unknown")) {
            FoundWorkers.Found found = withStatus("Running", "10.0.0.1", ready);
            assertNull(found.leaving());
            assertEquals("its pod is not ready", found.held());
        }
        FoundWorkers.Found nowhere = withStatus("Running", "", "True");
        assertNull(nowhere.leaving());
        assertEquals("its pod has no address", nowhere.held());
        for (String ended : List.of("Failed", "Succeeded")) {
            assertEquals("its pod has ended", withStatus(ended, "10.0.0.1", "True").leaving());
        }
    }

    @Test
    void a_life_that_no_slice_has_is_held_and_one_that_ends_is_not() {
        ObjectNode pod = Objects.running(pod(Map.of()), "10.0.0.1", true);
        assertEquals(Map.of("e-0/u1", "no EndpointSlice has it"), found(List.of(), pod).held());
        ((ObjectNode) pod.get("status")).put("phase", "Failed");
        assertEquals(Map.of(), found(List.of(), pod).held());
        ((ObjectNode) pod.get("status")).put("phase", "Running");
        pod.withObject("metadata").put("deletionTimestamp", "2026-11-22T00:00:00Z");
        assertEquals(Map.of(), found(List.of(), pod).held());
    }

    @Test
    void an_endpoint_without_a_pod_takes_the_slices_annotations() {
        ObjectNode slice = slice(PORTS);
        slice.withObject("metadata").withObject("annotations").put("warmpath.io/kind", "sglang");
        ((ObjectNode) slice.at("/endpoints/0")).remove("targetRef");
        WorkerSpec spec = only(found(List.of(slice)));
        assertEquals(EngineKind.SGLANG, spec.kind());
        assertEquals("10.0.0.1", spec.name());
        assertEquals(Map.of(), spec.labels());
    }

    @Test
    void a_pod_that_is_not_selected_is_a_problem() {
        String problem = problem(found(List.of(slice(PORTS))));
        assertTrue(problem.contains("kubernetes.selector"), problem);
    }

    @Test
    void labels_come_along_without_those_of_controllers() {
        ObjectNode pod = pod(Map.of());
        pod.withObject("metadata")
                .withObject("labels")
                .put("pod-template-hash", "abc")
                .put("team", "search")
                .put("empty", "");
        assertEquals(
                Map.of("app.kubernetes.io/component", "engine", "team", "search", "empty", ""),
                only(found(List.of(slice(PORTS)), pod)).labels());
    }

    @Test
    void the_labels_of_its_place_come_from_its_node_and_from_annotations() {
        ObjectNode pod = pod(Map.of("warmpath.io/rack", "r7"));
        pod.withObject("spec").put("nodeName", "n1");
        pod.withObject("metadata").withObject("labels").put("topology.kubernetes.io/zone", "b");
        ObjectNode slice = slice(PORTS);
        WorkerSpec spec = only(found(List.of(slice), pod));
        assertEquals(new Place("n1", "r7", "b"), Place.of(spec.labels()));
        ((ObjectNode) slice.at("/endpoints/0")).put("zone", "a");
        assertEquals("a", only(found(List.of(slice), pod)).labels().get("zone"));
        pod.withObject("metadata").withObject("labels").put("zone", "c").put("node", "x");
        pod.withObject("metadata").withObject("annotations").put("warmpath.io/node", "n2");
        spec = only(found(List.of(slice), pod));
        assertEquals(new Place("n2", "r7", "c"), Place.of(spec.labels()));
    }

    @Test
    void a_long_name_is_cut_and_stays_its_own() {
        String a = "x".repeat(80) + "-a";
        String b = "x".repeat(80) + "-b";
        ObjectNode slice = Objects.slice("s", "IPv4", PORTS);
        Objects.serving(Objects.serving(slice, "10.0.0.1", a), "10.0.0.2", b);
        List<String> names =
                found(List.of(slice), Objects.pod(a, Map.of()), Objects.pod(b, Map.of()))
                        .workers()
                        .values()
                        .stream()
                        .map(f -> String.valueOf(f.spec().name()))
                        .toList();
        assertEquals(2, names.size());
        assertNotEquals(names.get(0), names.get(1));
        assertEquals(63, names.getFirst().length());
    }
}
