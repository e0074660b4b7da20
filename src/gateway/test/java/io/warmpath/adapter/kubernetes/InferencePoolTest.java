package io.warmpath.adapter.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.adapter.kubernetes.FoundWorkers.Found;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.WorkerSpec;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The workers that one pool and its pods amount to. */
class InferencePoolTest {
    private static ObjectNode pool(int... ports) {
        return Objects.pool("llm", "app", "llm", ports);
    }

    private static ObjectNode pod(String ip, Map<String, String> annotations) {
        ObjectNode pod = Objects.running(Objects.pod("e-0", annotations), ip, true);
        pod.withObject("metadata").put("uid", "u1");
        return pod;
    }

    private static FoundWorkers found(ObjectNode pool, ObjectNode... pods) {
        Map<String, Pod> byName = new HashMap<>();
        for (ObjectNode pod : pods) {
            Pod p = Pod.of(pod);
            byName.put(p.name(), p);
        }
        return InferencePool.of(pool).workers(byName);
    }

    private static WorkerSpec only(FoundWorkers found) {
        assertEquals(Map.of(), found.problems());
        assertEquals(1, found.workers().size(), found.toString());
        return found.workers().values().iterator().next().spec();
    }

    private static Map<String, WorkerSpec> byName(FoundWorkers found) {
        assertEquals(Map.of(), found.problems());
        Map<String, WorkerSpec> all = new TreeMap<>();
        found.workers().values().forEach(f -> all.put(String.valueOf(f.spec().name()), f.spec()));
        return all;
    }

    @Test
    void a_pod_behind_one_port_is_a_worker_of_its_name() {
        WorkerSpec spec = only(found(pool(8000), pod("10.0.0.1", Map.of())));
        assertEquals("e-0", spec.name());
        assertEquals(URI.create("http://10.0.0.1:8000"), spec.url());
        assertEquals(0, spec.dpSize(), "the engine is asked");
        assertEquals("engine", spec.labels().get("app.kubernetes.io/component"));
    }

    @Test
    void each_of_several_ports_is_a_worker_of_one_rank_with_its_own_events() {
        ObjectNode pod =
                Objects.named(
                        Objects.named(pod("10.0.0.1", Map.of()), "kv-events", 5557),
                        "kv-replay",
                        5573);
        Map<String, WorkerSpec> all = byName(found(pool(8000, 8001), pod));
        assertEquals(List.of("e-0-8000", "e-0-8001"), List.copyOf(all.keySet()));
        WorkerSpec first = all.get("e-0-8000");
        WorkerSpec second = all.get("e-0-8001");
        assertEquals(URI.create("http://10.0.0.1:8000"), first.url());
        assertEquals("tcp://10.0.0.1:5557", first.eventsEndpoint());
        assertEquals(URI.create("http://10.0.0.1:8001"), second.url());
        assertEquals("tcp://10.0.0.1:5558", second.eventsEndpoint());
        assertEquals("tcp://10.0.0.1:5574", second.replayEndpoint());
        assertEquals(1, first.dpSize());
        assertEquals(1, second.dpSize());
    }

    @Test
    void annotations_are_the_fields_of_each_of_its_workers() {
        Map<String, WorkerSpec> all =
                byName(
                        found(
                                pool(8000, 8001),
                                pod(
                                        "10.0.0.1",
                                        Map.of(
                                                "warmpath.io/kind", "vllm",
                                                "warmpath.io/block-size", "16",
                                                "warmpath.io/port", "9999",
                                                "warmpath.io/events-port", "6000",
                                                "warmpath.io/dp-size", "2"))));
        WorkerSpec second = all.get("e-0-8001");
        assertEquals(EngineKind.VLLM, second.kind());
        assertEquals(16, second.blockSize());
        assertEquals(2, second.dpSize());
        assertEquals("tcp://10.0.0.1:6002", second.eventsEndpoint(), "two ranks lie before it");
        assertEquals(8001, second.url().getPort(), "the pool says the ports");
    }

    @Test
    void the_protocol_is_the_pools_unless_the_pod_says_another() {
        ObjectNode h2c = pool(8000);
        h2c.withObject("spec").put("appProtocol", "kubernetes.io/h2c");
        assertEquals("h2c", only(found(h2c, pod("10.0.0.1", Map.of()))).url().getScheme());
        ObjectNode http = pool(8000);
        http.withObject("spec").put("appProtocol", "http");
        assertEquals("http", only(found(http, pod("10.0.0.1", Map.of()))).url().getScheme());
        assertEquals(
                "https",
                only(found(http, pod("10.0.0.1", Map.of("warmpath.io/scheme", "https"))))
                        .url()
                        .getScheme());
    }

    @Test
    void an_ipv6_address_stands_in_brackets() {
        assertEquals(
                URI.create("http://[fd00::1]:8000"),
                only(found(pool(8000), pod("fd00::1", Map.of()))).url());
    }

    @Test
    void readiness_and_deletion_say_who_leaves() {
        ObjectNode not = Objects.running(Objects.pod("e-0", Map.of()), "10.0.0.1", false);
        assertEquals("its pod is not ready", state(found(pool(8000), not)));
        ObjectNode silent = pod("10.0.0.1", Map.of());
        silent.withObject("status").remove("conditions");
        assertEquals("its pod is not ready", state(found(pool(8000), silent)));
        ObjectNode deleted = pod("10.0.0.1", Map.of());
        deleted.withObject("metadata").put("deletionTimestamp", "2026-11-22T00:00:00Z");
        assertEquals("its pod is being deleted", state(found(pool(8000), deleted)));
        assertNull(state(found(pool(8000), pod("10.0.0.1", Map.of()))));
    }

    private static String state(FoundWorkers found) {
        Found only = found.workers().values().iterator().next();
        return only.leaving() == null ? only.held() : only.leaving();
    }

    @Test
    void a_pod_without_an_address_or_that_has_ended_is_none() {
        FoundWorkers young = found(pool(8000), pod("", Map.of()));
        assertEquals(Map.of(), young.workers());
        assertEquals(Map.of("e-0:8000/u1", "its pod has no address"), young.held());
        ObjectNode ended = pod("10.0.0.1", Map.of());
        ended.withObject("status").put("phase", "Failed");
        ObjectNode deleted = pod("", Map.of());
        deleted.withObject("metadata").put("deletionTimestamp", "2026-11-22T00:00:00Z");
        for (ObjectNode pod : List.of(ended, deleted)) {
            assertEquals(FoundWorkers.NONE, found(pool(8000), pod));
        }
    }

    @Test
    void a_pod_that_does_a_part_has_that_role_and_no_taint() {
        for (Role role : List.of(Role.PREFILL, Role.ENCODE)) {
            ObjectNode pod =
                    Objects.labelled(pod("10.0.0.1", Map.of()), "llm-d.ai/role", role.label());
            Map<String, WorkerSpec> all = byName(found(pool(8000, 8001), pod));
            assertEquals(2, all.size());
            for (WorkerSpec spec : all.values()) {
                assertEquals(role, spec.role());
                assertEquals(List.of(), spec.taints());
            }
        }
    }

    @Test
    void what_is_wrong_is_a_problem_of_each_port() {
        FoundWorkers wrong =
                found(pool(8000, 8001), pod("10.0.0.1", Map.of("warmpath.io/kind", "sglong")));
        assertEquals(Map.of(), wrong.workers());
        assertEquals(2, wrong.problems().size());
        String one = "tcp://10.0.0.1:5557";
        Map<String, String> endpoint = Map.of("warmpath.io/events-endpoint", one);
        assertEquals(one, only(found(pool(8000), pod("10.0.0.1", endpoint))).eventsEndpoint());
        FoundWorkers two = found(pool(8000, 8001), pod("10.0.0.1", endpoint));
        assertTrue(two.problems().toString().contains("events-port"), two.toString());
    }

    @Test
    void what_gateways_do_not_accept_is_read_from_the_status() {
        ObjectNode pool = pool(8000);
        ObjectNode parent = pool.putObject("status").putArray("parents").addObject();
        parent.putObject("parentRef").put("name", "inference");
        parent.putArray("conditions")
                .addObject()
                .put("type", "Accepted")
                .put("status", "True")
                .put("reason", "Accepted");
        assertEquals(List.of(), InferencePool.of(pool).complaints());
        parent.withArray("conditions")
                .addObject()
                .put("type", "ResolvedRefs")
                .put("status", "False")
                .put("reason", "InvalidExtensionRef")
                .put("message", "no Service warmpath");
        assertEquals(
                List.of(
                        "inference says that it is not ResolvedRefs: InvalidExtensionRef, no"
                                + " Service warmpath"),
                InferencePool.of(pool).complaints());
    }
}
