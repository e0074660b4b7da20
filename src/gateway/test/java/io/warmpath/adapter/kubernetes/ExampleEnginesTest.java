package io.warmpath.adapter.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.repository.RenderedManifests;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The engines of k8s/workers, and of the example, become workers, with nothing said twice. */
class ExampleEnginesTest {
    private static JsonNode object(String rendering, String kind, String name) {
        return RenderedManifests.all().get(rendering).stream()
                .filter(o -> o.path("kind").asText().equals(kind))
                .filter(o -> o.at("/metadata/name").asText().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static JsonNode engine(JsonNode set) {
        return set.at("/spec/template/spec/containers")
                .valueStream()
                .filter(c -> c.path("name").asText().equals("engine"))
                .findFirst()
                .orElseThrow();
    }

    private static String variable(JsonNode engine, String name, String at) {
        return engine.path("env")
                .valueStream()
                .filter(v -> v.path("name").asText().equals(name))
                .map(v -> v.at(at).asText())
                .findFirst()
                .orElse("none");
    }

    private static Set<String> arguments(JsonNode set) {
        return engine(set)
                .path("args")
                .valueStream()
                .map(JsonNode::asText)
                .collect(Collectors.toSet());
    }

    /** Arguments of the first that the second has not. */
    private static Set<String> more(JsonNode set, JsonNode than) {
        Set<String> more = new TreeSet<>(arguments(set));
        more.removeAll(arguments(than));
        return more;
    }

    private static WorkerSpec worker(String rendering, String name) {
        JsonNode service = object(rendering, "Service", name);
        JsonNode set = object(rendering, "StatefulSet", name);
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
        String arguments = engine(set).path("args").toString();
        WorkerSpec spec = found.workers().values().iterator().next().spec();
        assertTrue(arguments.contains("--port=" + spec.url().getPort()), arguments);
        assertTrue(arguments.contains("*:5557") && arguments.contains("*:5573"), arguments);
        return spec;
    }

    @Test
    void sglang_is_a_worker_with_events_and_replay() {
        for (String rendering : List.of("workers/sglang", "workers/sglang-nats")) {
            WorkerSpec spec = worker(rendering, "sglang");
            assertEquals(EngineKind.SGLANG, spec.kind());
            assertEquals(URI.create("http://10.0.0.1:30000"), spec.url());
            assertEquals("tcp://10.0.0.1:5557", spec.eventsEndpoint());
            assertEquals("tcp://10.0.0.1:5573", spec.replayEndpoint());
        }
    }

    @Test
    void vllm_is_a_worker_with_events_and_replay() {
        for (String rendering : List.of("workers/vllm", "workers/vllm-nats")) {
            WorkerSpec spec = worker(rendering, "vllm");
            assertEquals(EngineKind.VLLM, spec.kind());
            assertEquals(16, spec.blockSize());
            assertEquals(URI.create("http://10.0.0.1:8000"), spec.url());
            assertEquals("tcp://10.0.0.1:5557", spec.eventsEndpoint());
        }
    }

    /** src/examples/kubernetes: both serve models of the claim, which the gateway reads too. */
    @Test
    void the_examples_engines_are_workers_whose_tokenizers_the_gateway_finds() {
        String engines = "example, engines";
        assertEquals(EngineKind.SGLANG, worker(engines, "sglang").kind());
        assertEquals(EngineKind.VLLM, worker(engines, "vllm").kind());
        JsonNode gateway = object("example, gateway", "Deployment", "warmpath");
        String mount =
                gateway.at("/spec/template/spec/containers/0/volumeMounts")
                        .valueStream()
                        .filter(m -> m.path("name").asText().equals("models"))
                        .map(m -> m.path("mountPath").asText() + "/")
                        .findFirst()
                        .orElseThrow();
        Set<String> downloaded =
                Pattern.compile("\\bQwen/(\\S+)")
                        .matcher(object("example, models", "Job", "models").toString())
                        .results()
                        .map(m -> mount + m.group(1).replace(";", ""))
                        .collect(Collectors.toSet());
        Set<String> served = new TreeSet<>();
        for (String name : List.of("sglang", "vllm")) {
            JsonNode engine = engine(object(engines, "StatefulSet", name));
            Stream.of("command", "args")
                    .flatMap(list -> engine.path(list).valueStream())
                    .map(word -> word.asText().replace("--model-path=", ""))
                    .filter(word -> word.startsWith(mount))
                    .forEach(served::add);
            assertEquals("1", engine.at("/resources/limits").path("nvidia.com/gpu").asText());
        }
        assertEquals(2, served.size());
        assertEquals(downloaded, served);
    }

    @Test
    void the_halves_of_sglang_differ_from_the_whole_by_what_splits_them() {
        String split = "workers/sglang-disaggregated";
        JsonNode whole = object("workers/sglang", "StatefulSet", "sglang");
        JsonNode prefill = object(split, "StatefulSet", "sglang-prefill");
        JsonNode decode = object(split, "StatefulSet", "sglang-decode");
        assertEquals(
                Set.of(
                        "--disaggregation-mode=prefill",
                        "--disaggregation-bootstrap-port=8998",
                        "--disaggregation-transfer-backend=nixl"),
                more(prefill, whole));
        assertEquals(
                Set.of("--disaggregation-mode=decode", "--disaggregation-transfer-backend=nixl"),
                more(decode, whole));
        for (JsonNode half : List.of(prefill, decode)) {
            assertEquals(Set.of(), more(whole, half));
            for (String waits : List.of("BOOTSTRAP_TIMEOUT", "WAITING_TIMEOUT")) {
                assertEquals(
                        "30", variable(engine(half), "SGLANG_DISAGGREGATION_" + waits, "/value"));
            }
            String name = half.at("/metadata/name").asText();
            WorkerSpec spec = worker(split, name);
            assertEquals(EngineKind.SGLANG, spec.kind());
            assertNull(spec.role(), "the engine is asked");
            assertEquals("tcp://10.0.0.1:5557", spec.eventsEndpoint());
            reachesItsPeers(split, name);
        }
        JsonNode ready = engine(prefill).at("/readinessProbe/httpGet");
        assertEquals("bootstrap", ready.path("port").asText());
        assertTrue(ready.path("path").asText().startsWith("/route?"), ready.toString());
        assertTrue(engine(prefill).path("ports").toString().contains("8998"));
    }

    @Test
    void the_halves_of_vllm_differ_from_the_whole_by_what_splits_them() {
        String split = "workers/vllm-disaggregated";
        JsonNode whole = object("workers/vllm", "StatefulSet", "vllm");
        String connector = "--kv-transfer-config={\"kv_connector\":\"NixlConnector\",\"kv_role\":";
        Map<Role, String> flags =
                Map.of(
                        Role.PREFILL,
                        connector + "\"kv_producer\"}",
                        Role.DECODE,
                        connector + "\"kv_consumer\",\"kv_load_failure_policy\":\"recompute\"}");
        flags.forEach(
                (role, flag) -> {
                    String name = "vllm-" + role.label();
                    JsonNode half = object(split, "StatefulSet", name);
                    assertEquals(Set.of(flag), more(half, whole));
                    assertEquals(Set.of(), more(whole, half));
                    assertEquals(
                            "status.podIP",
                            variable(
                                    engine(half),
                                    "VLLM_NIXL_SIDE_CHANNEL_HOST",
                                    "/valueFrom/fieldRef/fieldPath"));
                    WorkerSpec spec = worker(split, name);
                    assertEquals(EngineKind.VLLM, spec.kind());
                    assertEquals(role, spec.role());
                    assertEquals(16, spec.blockSize());
                    assertEquals("tcp://10.0.0.1:5557", spec.eventsEndpoint());
                    reachesItsPeers(split, name);
                });
    }

    /** By all ports, from other engines; from the gateway by those of an engine without a role. */
    private static void reachesItsPeers(String rendering, String name) {
        JsonNode rules = object(rendering, "NetworkPolicy", name).at("/spec/ingress");
        assertEquals(2, rules.size());
        JsonNode peers = rules.path(1);
        assertEquals(
                "{\"app.kubernetes.io/component\":\"engine\"}",
                peers.at("/from/0/podSelector/matchLabels").toString());
        assertFalse(peers.has("ports"), peers.toString());
        assertEquals(
                "warmpath",
                rules.at("/0/from/0/podSelector/matchLabels")
                        .path("app.kubernetes.io/name")
                        .asText());
    }
}
