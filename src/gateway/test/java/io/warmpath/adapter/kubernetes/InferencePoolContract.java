package io.warmpath.adapter.kubernetes;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What the source tells of an InferencePool, whichever API server it asks. The kind of objectives
 * that is {@code llm-d.ai}'s is not there at first.
 */
abstract class InferencePoolContract extends BeforeCluster {
    private static final Duration SOON = Duration.ofSeconds(20);

    /** The API server knows {@code llm-d.ai}'s objectives from now on. */
    abstract void defineObjectives();

    void start() {
        start(Duration.ofMinutes(10));
    }

    private void start(Duration resync) {
        KubernetesOptions o = cluster.options();
        start(
                new KubernetesOptions(
                        o.apiServer(),
                        o.tokenFile(),
                        o.caFile(),
                        o.namespace(),
                        o.selector(),
                        "llm",
                        resync));
    }

    void pool(int... ports) {
        cluster.put(Cluster.POOLS, Objects.pool("llm", "app", "llm", ports));
    }

    private static ObjectNode labelled(String name, String app) {
        return Objects.labelled(Objects.pod(name, Map.of("warmpath.io/kind", "vllm")), "app", app);
    }

    void pod(String name, String ip, boolean ready) {
        pod(labelled(name, "llm"), ip, ready);
    }

    private void pod(ObjectNode pod, String ip, boolean ready) {
        cluster.put(Cluster.PODS, pod);
        cluster.status(Cluster.PODS, Objects.running(pod, ip, ready));
    }

    private void lacks(String why) {
        await().atMost(SOON).untilAsserted(() -> assertEquals(why, source.lacking()));
    }

    @Test
    void each_port_of_each_ready_pod_of_the_pool_is_a_worker() {
        pool(8000, 8001);
        pod("e-0", "10.0.0.1", true);
        pod(labelled("database-0", "database"), "10.0.0.7", true);
        cluster.put(Cluster.POOLS, Objects.pool("other", "app", "database", 5432));
        start();
        states(Map.of("e-0-8000", "serves", "e-0-8001", "serves"));
        assertEquals(URI.create("http://10.0.0.1:8001"), told.spec("e-0-8001").url());
        assertEquals(2, source.serving());
        assertEquals("", source.lacking());
        pod("e-1", "10.0.0.2", true);
        states(
                Map.of(
                        "e-0-8000", "serves",
                        "e-0-8001", "serves",
                        "e-1-8000", "serves",
                        "e-1-8001", "serves"));
        assertEquals(Map.of(), source.problems());
        assertTrue(source.connected());
        assertEquals(0, source.failures());
    }

    @Test
    void a_pod_drains_while_it_is_not_ready_or_being_deleted() {
        pool(8000);
        pod("e-0", "10.0.0.1", true);
        pod("e-1", "10.0.0.2", false);
        start();
        states(Map.of("e-0", "serves"));
        pod("e-1", "10.0.0.2", true);
        states(Map.of("e-0", "serves", "e-1", "serves"));
        pod("e-0", "10.0.0.1", false);
        states(Map.of("e-0", "its pod is not ready", "e-1", "serves"));
        cluster.terminate("e-1");
        states(Map.of("e-0", "its pod is not ready", "e-1", "its pod is being deleted"));
        lacks("no pod of the InferencePool llm is ready");
        assertEquals(0, source.serving());
        cluster.remove(Cluster.PODS, "e-1");
        states(Map.of("e-0", "its pod is not ready"));
        pod("e-0", "10.0.0.1", true);
        states(Map.of("e-0", "serves"));
        lacks("");
    }

    @Test
    void a_pool_that_is_not_there_has_no_workers_until_it_comes() {
        pod("e-0", "10.0.0.1", true);
        start();
        assertTrue(source.lacking().contains("llm"));
        lacks("there is no InferencePool llm in " + Objects.NAMESPACE);
        assertEquals(List.of(), told.calls());
        pool(8000);
        states(Map.of("e-0", "serves"));
        lacks("");
        cluster.remove(Cluster.POOLS, "llm");
        states(Map.of());
        lacks("there is no InferencePool llm in " + Objects.NAMESPACE);
        assertEquals(0, source.serving());
        pool(8000);
        states(Map.of("e-0", "serves"));
        lacks("");
    }

    @Test
    void new_ports_and_another_selector_are_followed() {
        pool(8000);
        pod("e-0", "10.0.0.1", true);
        pod(labelled("f-0", "next"), "10.0.0.2", true);
        start();
        states(Map.of("e-0", "serves"));
        pool(8000, 8001);
        states(Map.of("e-0-8000", "serves", "e-0-8001", "serves"));
        ObjectNode moved = Objects.pool("llm", "app", "next", 8000);
        moved.withObject("spec").put("appProtocol", "kubernetes.io/h2c");
        cluster.put(Cluster.POOLS, moved);
        states(Map.of("f-0", "serves"));
        assertEquals(URI.create("h2c://10.0.0.2:8000"), told.spec("f-0").url());
        // Those of the selector before are followed no more.
        pod("e-1", "10.0.0.3", true);
        pod(labelled("f-1", "next"), "10.0.0.4", true);
        states(Map.of("f-0", "serves", "f-1", "serves"));
    }

    @Test
    void a_pod_that_is_taken_out_of_the_selection_leaves() {
        pool(8000);
        pod("e-0", "10.0.0.1", true);
        pod("e-1", "10.0.0.2", true);
        start();
        states(Map.of("e-0", "serves", "e-1", "serves"));
        cluster.put(Cluster.PODS, labelled("e-1", "spare"));
        states(Map.of("e-0", "serves"));
    }

    @Test
    void objectives_of_the_pool_have_priorities() {
        pool(8000);
        String old = "inference.networking.x-k8s.io";
        cluster.put(Cluster.OLD_OBJECTIVES, Objects.objective(old, "premium", "llm", 100));
        cluster.put(Cluster.OLD_OBJECTIVES, Objects.objective(old, "plain", "llm", null));
        cluster.put(Cluster.OLD_OBJECTIVES, Objects.objective(old, "foreign", "other", 7));
        start();
        await().atMost(SOON).untilAsserted(() -> assertEquals(2, source.objectives()));
        assertEquals(100, source.priority("premium"));
        assertEquals(0, source.priority("plain"));
        assertNull(source.priority("foreign"));
        assertNull(source.priority("nobody"));
        cluster.put(Cluster.OLD_OBJECTIVES, Objects.objective(old, "premium", "llm", -1));
        await().atMost(SOON).untilAsserted(() -> assertEquals(-1, source.priority("premium")));
        cluster.remove(Cluster.OLD_OBJECTIVES, "premium");
        await().atMost(SOON).untilAsserted(() -> assertNull(source.priority("premium")));
        assertEquals(0, source.failures(), "a kind that is not there is no failure");
    }

    @Test
    void rewrites_of_the_pool_share_models_out() {
        pool(8000);
        start();
        assertNull(source.rewritten("chat", 0));
        cluster.put(Cluster.REWRITES, Objects.rewrite("b", "llm", "chat", "old:90", "new:10"));
        cluster.put(Cluster.REWRITES, Objects.rewrite("c", "llm", "", "small"));
        cluster.put(Cluster.REWRITES, Objects.rewrite("d", "other", "chat", "nobody"));
        await().atMost(SOON).untilAsserted(() -> assertEquals(2, source.rewrites()));
        await().atMost(SOON)
                .untilAsserted(() -> assertEquals("small", source.rewritten("any", 0.5)));
        assertEquals("old", source.rewritten("chat", 0));
        assertEquals("old", source.rewritten("chat", 0.899));
        assertEquals("new", source.rewritten("chat", 0.901));
        cluster.put(Cluster.REWRITES, Objects.rewrite("b", "llm", "chat", "new", "newer"));
        await().atMost(SOON)
                .untilAsserted(() -> assertEquals("newer", source.rewritten("chat", 0.5)));
        assertEquals("new", source.rewritten("chat", 0.499));
        cluster.remove(Cluster.REWRITES, "b");
        await().atMost(SOON)
                .untilAsserted(() -> assertEquals("small", source.rewritten("chat", 0.5)));
        cluster.remove(Cluster.REWRITES, "c");
        await().atMost(SOON).untilAsserted(() -> assertNull(source.rewritten("chat", 0.5)));
        assertEquals(0, source.failures());
    }

    @Test
    void a_kind_of_objectives_that_is_installed_later_is_found() {
        pool(8000);
        start(Duration.ofSeconds(1));
        lacks("no pod of the InferencePool llm is ready");
        assertNull(source.priority("premium"));
        defineObjectives();
        cluster.put(Cluster.OBJECTIVES, Objects.objective("llm-d.ai", "premium", "llm", 50));
        await().atMost(SOON).untilAsserted(() -> assertEquals(50, source.priority("premium")));
        assertEquals(0, source.failures());
    }
}
