package io.warmpath.adapter.kubernetes;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.WorkerSpec;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the source tells of a cluster, whichever API server it asks. */
abstract class KubernetesSourceContract extends BeforeCluster {
    static final Map<String, Integer> PORTS =
            Map.of("http", 30000, "kv-events", 5557, "kv-replay", 5573);

    void start() {
        start(cluster.options());
    }

    void pod(String name) {
        ObjectNode pod = Objects.pod(name, Map.of("warmpath.io/kind", "sglang"));
        cluster.put(Cluster.PODS, pod);
        cluster.status(Cluster.PODS, Objects.running(pod, "10.0.0.1", true));
    }

    static ObjectNode slice() {
        return Objects.slice("engines-1", "IPv4", PORTS);
    }

    void put(ObjectNode slice) {
        cluster.put(Cluster.SLICES, slice);
    }

    @Test
    void engines_behind_a_service_become_workers() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        WorkerSpec spec = told.spec("sglang-0");
        assertEquals(URI.create("http://10.0.0.1:30000"), spec.url());
        assertEquals(EngineKind.SGLANG, spec.kind());
        assertEquals("tcp://10.0.0.1:5557", spec.eventsEndpoint());
        assertEquals("tcp://10.0.0.1:5573", spec.replayEndpoint());
        assertEquals("engine", spec.labels().get("app.kubernetes.io/component"));

        pod("sglang-1");
        put(
                Objects.serving(
                        Objects.serving(slice(), "10.0.0.1", "sglang-0"), "10.0.0.2", "sglang-1"));
        states(Map.of("sglang-0", "serves", "sglang-1", "serves"));
        assertEquals(List.of("put sglang-0", "put sglang-1"), told.calls());
    }

    @Test
    void a_pod_that_is_being_deleted_drains_and_then_leaves() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        cluster.terminate("sglang-0");
        states(Map.of("sglang-0", "its pod is being deleted"));
        put(slice());
        cluster.remove(Cluster.PODS, "sglang-0");
        states(Map.of());
    }

    @Test
    void a_pod_that_is_not_ready_is_held_and_comes_back() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        put(Objects.endpoint(slice(), "10.0.0.1", "sglang-0", false, false));
        states(Map.of("sglang-0", "its pod is not ready"));
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        states(Map.of("sglang-0", "serves"));
        assertEquals(List.of("put sglang-0", "hold sglang-0", "put sglang-0"), told.calls());
    }

    private void status(String phase, String ip, boolean ready) {
        ObjectNode pod = Objects.pod("sglang-0", Map.of("warmpath.io/kind", "sglang"));
        Objects.running(pod, "10.0.0.1", ready).withObject("status").put("phase", phase);
        if (ip.isEmpty()) {
            ((ObjectNode) pod.get("status")).remove(List.of("podIP", "podIPs"));
        }
        cluster.status(Cluster.PODS, pod);
    }

    @Test
    void what_its_pod_says_counts_though_the_slice_does_not_follow() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        status("Running", "10.0.0.1", false);
        states(Map.of("sglang-0", "its pod is not ready"));
        status("Running", "10.0.0.1", true);
        states(Map.of("sglang-0", "serves"));
        status("Failed", "", false);
        states(Map.of("sglang-0", "its pod has ended"));
        assertEquals(
                List.of("put sglang-0", "hold sglang-0", "put sglang-0", "drain sglang-0"),
                told.calls());
        put(slice());
        states(Map.of());
    }

    @Test
    void a_pod_that_no_slice_has_stays_known_until_it_goes() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        put(slice());
        states(Map.of("sglang-0", "no EndpointSlice has it"));
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        states(Map.of("sglang-0", "serves"));
        put(slice());
        cluster.remove(Cluster.PODS, "sglang-0");
        states(Map.of());
        assertEquals("remove sglang-0", told.calls().getLast());
    }

    @Test
    void a_pod_that_has_not_been_ready_yet_is_no_worker() {
        pod("old");
        pod("new");
        ObjectNode slice = Objects.serving(slice(), "10.0.0.1", "old");
        put(Objects.endpoint(slice, "10.0.0.2", "new", false, false));
        start();
        states(Map.of("old", "serves"));
        put(Objects.serving(Objects.serving(slice(), "10.0.0.1", "old"), "10.0.0.2", "new"));
        states(Map.of("old", "serves", "new", "serves"));
        assertEquals(List.of("put old", "put new"), told.calls());
    }

    @Test
    void a_pod_of_the_same_name_is_another_worker() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        put(slice());
        cluster.remove(Cluster.PODS, "sglang-0");
        states(Map.of());
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.9", "sglang-0"));
        states(Map.of("sglang-0", "serves"));
        assertEquals(URI.create("http://10.0.0.9:30000"), told.spec("sglang-0").url());
        // Pods and slices come by two watches: the new address may be seen beside the old pod.
        List<String> calls = told.calls().stream().filter(c -> !c.startsWith("hold")).toList();
        assertEquals(List.of("put sglang-0", "remove sglang-0"), calls.subList(0, 2));
        assertEquals("put sglang-0", calls.getLast());
    }

    @Test
    void others_in_the_namespace_are_left_alone() {
        ObjectNode stranger = Objects.slice("database-1", "IPv4", Map.of("http", 80));
        stranger.withObject("metadata")
                .withObject("labels")
                .put("app.kubernetes.io/component", "database");
        put(Objects.serving(stranger, "10.0.0.7", "database-0"));
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        assertEquals(Map.of(), source.problems());
    }

    @Test
    void an_annotation_that_becomes_wrong_leaves_the_worker_as_it_was() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        cluster.put(Cluster.PODS, Objects.pod("sglang-0", Map.of("warmpath.io/kind", "sglong")));
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertEquals(1, source.problems().size()));
        assertTrue(source.problems().toString().contains("kind"), source.problems().toString());
        assertEquals(Map.of("sglang-0", "serves"), told.states());
        cluster.put(Cluster.PODS, Objects.pod("sglang-0", Map.of("warmpath.io/kind", "vllm")));
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertEquals(EngineKind.VLLM, told.spec("sglang-0").kind()));
        assertEquals(Map.of(), source.problems());
    }

    @Test
    void a_label_that_becomes_one_of_no_known_role_is_counted_until_it_is_right() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        labelled("decoder");
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertEquals(1, source.problems().size()));
        assertTrue(source.problems().toString().contains("decoder"), source.problems().toString());
        assertEquals(Map.of("sglang-0", "serves"), told.states());
        labelled("decode");
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertEquals(Role.DECODE, told.spec("sglang-0").role()));
        assertEquals(Map.of(), source.problems());
    }

    private void labelled(String role) {
        cluster.put(
                Cluster.PODS,
                Objects.labelled(
                        Objects.pod("sglang-0", Map.of("warmpath.io/kind", "sglang")),
                        "llm-d.ai/role",
                        role));
    }

    @Test
    void a_source_that_ends_takes_no_worker_away() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
        source.close();
        assertEquals(Set.of("sglang-0"), told.states().keySet());
        assertNotEquals(List.of(), told.calls());
    }
}
