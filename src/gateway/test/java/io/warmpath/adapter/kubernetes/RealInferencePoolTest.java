package io.warmpath.adapter.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.repository.RenderedManifests;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The source of a pool's workers before a real API server with the published CRDs, with the rights
 * of k8s/components/endpoint-picker alone.
 */
@Tag("slow")
class RealInferencePoolTest extends InferencePoolContract {
    private static final Path CRDS = Path.of(".tools", "kubernetes", "crds");

    @TempDir static Path folder;
    private static RealApiServer server;

    @BeforeAll
    static void serve() throws IOException {
        if (!Files.exists(CRDS.resolve("fetched"))) {
            String why = "SKIPPED: no " + CRDS + "; ./warmpath k8s-check fetches them";
            System.err.println(why);
            Assumptions.abort(why);
        }
        server = new RealApiServer(folder);
        server.define(Objects.yaml(CRDS.resolve("inferencepools.yaml")), Cluster.POOLS);
        server.define(
                Objects.yaml(CRDS.resolve("inferenceobjectives.yaml")), Cluster.OLD_OBJECTIVES);
        server.define(
                Objects.yaml(Path.of("src/test/resources/kubernetes/llm-d-rewrites.yaml")),
                Cluster.REWRITES);
        server.grant(Path.of("k8s/components/endpoint-picker"));
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

    /** llm-d's, whose module no Go proxy has: its fields as its repository has them. */
    @Override
    void defineObjectives() {
        try {
            ObjectNode definition =
                    Objects.yaml(Path.of("src/test/resources/kubernetes/llm-d-objectives.yaml"));
            server.define(definition, Cluster.OBJECTIVES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @AfterEach
    void clear() throws IOException, InterruptedException {
        server.clear(Cluster.POOLS, Cluster.PODS, Cluster.OLD_OBJECTIVES, Cluster.REWRITES);
        if (server.asGateway(Cluster.OBJECTIVES) == 200) {
            server.clear(Cluster.OBJECTIVES);
        }
    }

    @Test
    void it_takes_every_pool_of_the_manifests_and_no_wrong_one() {
        int taken = 0;
        for (List<JsonNode> objects : RenderedManifests.all().values()) {
            for (JsonNode object : objects) {
                if (object.path("kind").asText().equals("InferencePool")) {
                    ObjectNode placed = object.deepCopy();
                    placed.withObject("metadata").put("namespace", Objects.NAMESPACE);
                    server.tryOut("/apis/inference.networking.k8s.io/v1", "inferencepools", placed);
                    taken++;
                }
            }
        }
        assertTrue(taken >= 5, "only " + taken);
        ObjectNode twice = Objects.pool("llm", "app", "llm", 8000, 8000);
        assertThrows(
                AssertionError.class,
                () ->
                        server.tryOut(
                                "/apis/inference.networking.k8s.io/v1", "inferencepools", twice));
    }

    @Test
    void the_role_gives_what_is_needed_and_nothing_else() throws Exception {
        for (String path :
                new String[] {
                    Cluster.PODS, Cluster.POOLS, Cluster.OLD_OBJECTIVES, Cluster.REWRITES
                }) {
            assertEquals(200, server.asGateway(path), path);
        }
        for (String path :
                new String[] {
                    Cluster.SLICES,
                    Cluster.PODS + "/e-0",
                    Cluster.POOLS + "/llm",
                    "/api/v1/namespaces/" + Objects.NAMESPACE + "/secrets",
                    "/apis/inference.networking.k8s.io/v1/inferencepools",
                    "/api/v1/pods"
                }) {
            assertEquals(403, server.asGateway(path), path);
        }
    }
}
