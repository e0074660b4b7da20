package io.warmpath.adapter.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.repository.RenderedManifests;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The engines of k8s/workers become workers, with nothing said twice. */
class ExampleEnginesTest {
    private static WorkerSpec worker(String rendering) {
        JsonNode service = null;
        JsonNode set = null;
        for (JsonNode o : RenderedManifests.all().get(rendering)) {
            switch (o.path("kind").asText()) {
                case "Service" -> service = o;
                case "StatefulSet" -> set = o;
                default -> {}
            }
        }
        ObjectNode pod = Objects.JSON.createObjectNode();
        pod.set("metadata", set.at("/spec/template/metadata").deepCopy());
        pod.withObject("metadata").put("name", "e-0").put("uid", "u");
        pod.set("spec", set.at("/spec/template/spec"));
        Map<String, Integer> ofPod = Pod.of(pod).ports();
        Map<String, Integer> ports = new HashMap<>();
        for (JsonNode port : service.at("/spec/ports")) {
            ports.put(port.path("name").asText(), ofPod.get(port.path("targetPort").asText()));
        }
        // A slice carries its Service's labels.
        for (JsonNode labels :
                List.of(service.at("/metadata/labels"), pod.at("/metadata/labels"))) {
            assertEquals("engine", labels.path("app.kubernetes.io/component").asText());
        }
        ObjectNode slice = Objects.serving(Objects.slice("s", "IPv4", ports), "10.0.0.1", "e-0");
        FoundWorkers found = FoundWorkers.of(List.of(Slice.of(slice)), Map.of("e-0", Pod.of(pod)));
        assertEquals(Map.of(), found.problems());
        String arguments = "";
        for (JsonNode container : set.at("/spec/template/spec/containers")) {
            if (container.path("name").asText().equals("engine")) {
                arguments = container.path("args").toString();
            }
        }
        WorkerSpec spec = found.workers().values().iterator().next().spec();
        assertTrue(arguments.contains("--port=" + spec.url().getPort()), arguments);
        assertTrue(arguments.contains("*:5557") && arguments.contains("*:5573"), arguments);
        return spec;
    }

    @Test
    void sglang_is_a_worker_with_events_and_replay() {
        for (String rendering : List.of("workers/sglang", "workers/sglang-nats")) {
            WorkerSpec spec = worker(rendering);
            assertEquals(EngineKind.SGLANG, spec.kind());
            assertEquals(URI.create("http://10.0.0.1:30000"), spec.url());
            assertEquals("tcp://10.0.0.1:5557", spec.eventsEndpoint());
            assertEquals("tcp://10.0.0.1:5573", spec.replayEndpoint());
        }
    }

    @Test
    void vllm_is_a_worker_with_events_and_replay() {
        for (String rendering : List.of("workers/vllm", "workers/vllm-nats")) {
            WorkerSpec spec = worker(rendering);
            assertEquals(EngineKind.VLLM, spec.kind());
            assertEquals(16, spec.blockSize());
            assertEquals(URI.create("http://10.0.0.1:8000"), spec.url());
            assertEquals("tcp://10.0.0.1:5557", spec.eventsEndpoint());
        }
    }
}
