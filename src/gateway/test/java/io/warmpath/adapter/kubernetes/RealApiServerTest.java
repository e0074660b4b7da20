package io.warmpath.adapter.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.repository.RenderedManifests;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The source before a real API server, with the rights of k8s/components/discovery alone. */
@Tag("slow")
class RealApiServerTest extends KubernetesSourceContract {
    @TempDir static Path folder;
    private static RealApiServer server;

    @BeforeAll
    static void serve() throws IOException {
        server = new RealApiServer(folder);
        server.grant(Path.of("k8s/components/discovery"));
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    Cluster open() {
        return server.shared();
    }

    @AfterEach
    void clear() throws IOException, InterruptedException {
        server.clear(Cluster.SLICES, Cluster.PODS);
    }

    @Test
    void the_role_gives_what_is_needed_and_nothing_else() throws Exception {
        pod("sglang-0");
        assertEquals(200, server.asGateway(Cluster.PODS));
        assertEquals(200, server.asGateway(Cluster.SLICES));
        for (String path :
                new String[] {
                    Cluster.PODS + "/sglang-0",
                    "/api/v1/namespaces/" + Objects.NAMESPACE + "/secrets",
                    "/api/v1/namespaces/" + Objects.NAMESPACE + "/configmaps",
                    "/api/v1/pods",
                    "/api/v1/nodes"
                }) {
            assertEquals(403, server.asGateway(path), path);
        }
    }

    /** All that has to be there for an object of ours is there; other makers' kinds are not. */
    @Test
    void it_takes_every_manifest() {
        Map<String, String> paths =
                Map.of(
                        "v1", "/api/v1",
                        "apps/v1", "/apis/apps/v1",
                        "autoscaling/v2", "/apis/autoscaling/v2",
                        "batch/v1", "/apis/batch/v1",
                        "networking.k8s.io/v1", "/apis/networking.k8s.io/v1",
                        "policy/v1", "/apis/policy/v1",
                        "rbac.authorization.k8s.io/v1", "/apis/rbac.authorization.k8s.io/v1");
        int taken = 0;
        for (List<JsonNode> objects : RenderedManifests.all().values()) {
            for (JsonNode object : objects) {
                String group = paths.get(object.path("apiVersion").asText());
                if (group != null) {
                    server.tryOut(group, kinds(object), placed(object));
                    taken++;
                }
            }
        }
        assertTrue(taken > 60, "only " + taken);
    }

    private static String kinds(JsonNode object) {
        String kind = object.path("kind").asText().toLowerCase(Locale.ROOT);
        String end = kind.endsWith("s") ? "es" : kind.endsWith("y") ? "ies" : "s";
        return (end.equals("ies") ? kind.substring(0, kind.length() - 1) : kind) + end;
    }

    private static ObjectNode placed(JsonNode object) {
        ObjectNode placed = object.deepCopy();
        placed.withObject("metadata").put("namespace", Objects.NAMESPACE);
        for (JsonNode subject : placed.path("subjects")) {
            ((ObjectNode) subject).put("namespace", Objects.NAMESPACE);
        }
        return placed;
    }
}
