package io.warmpath.adapter.kubernetes;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The source of a pool's workers before an API server that has the faults of a real one. */
@Tag("slow")
class InferencePoolSourceTest extends InferencePoolContract {
    private FakeApiServer api;

    @Override
    Cluster open() {
        api = new FakeApiServer(null);
        api.unknown(Cluster.OBJECTIVES, true);
        return api;
    }

    @Override
    void defineObjectives() {
        api.unknown(Cluster.OBJECTIVES, false);
    }

    @Test
    void it_asks_for_the_pool_its_pods_and_what_names_it_and_nothing_else() {
        pool(8000);
        pod("e-0", "10.0.0.1", true);
        start();
        states(Map.of("e-0", "serves"));
        List<String> kinds =
                List.of(
                        Cluster.POOLS + "?fieldSelector=metadata.name%3Dllm&",
                        Cluster.PODS + "?labelSelector=app%3Dllm&",
                        Cluster.OBJECTIVES + "?",
                        Cluster.OLD_OBJECTIVES + "?",
                        Cluster.REWRITES + "?",
                        Cluster.OLD_REWRITES + "?");
        for (String asked : api.asked()) {
            assertTrue(kinds.stream().anyMatch(asked::startsWith), asked);
        }
    }

    @Test
    void while_the_server_refuses_what_is_known_stays() {
        pool(8000);
        pod("e-0", "10.0.0.1", true);
        start();
        states(Map.of("e-0", "serves"));
        api.refuse(403, 12);
        api.cut();
        await().untilAsserted(() -> assertTrue(source.failures() >= 6));
        assertEquals(Map.of("e-0", "serves"), told.states());
        pod("e-1", "10.0.0.2", true);
        states(Map.of("e-0", "serves", "e-1", "serves"));
        await().untilAsserted(() -> assertTrue(source.connected()));
    }

    @Test
    void a_cluster_without_pools_is_asked_until_it_has_them() {
        api.unknown(Cluster.POOLS, true);
        pool(8000);
        pod("e-0", "10.0.0.1", true);
        start();
        await().untilAsserted(() -> assertTrue(source.failures() > 0));
        assertFalse(source.connected());
        assertEquals(Map.of(), told.states());
        api.unknown(Cluster.POOLS, false);
        states(Map.of("e-0", "serves"));
    }
}
