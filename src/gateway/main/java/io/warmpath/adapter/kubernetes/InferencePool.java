package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What is used of an InferencePool ({@code inference.networking.k8s.io/v1}). Immutable.
 *
 * @param selector labels of its pods, as a query has them
 * @param ports each is an endpoint of each pod, in this order
 * @param scheme of its pods
 * @param complaints conditions that a gateway says are not met, a sentence each
 */
record InferencePool(String selector, List<Integer> ports, String scheme, List<String> complaints) {
    static InferencePool of(JsonNode object) {
        JsonNode spec = object.path("spec");
        List<Integer> ports = new ArrayList<>();
        for (JsonNode port : spec.path("targetPorts")) {
            ports.add(port.path("number").asInt());
        }
        return new InferencePool(
                new TreeMap<>(Pod.texts(spec.path("selector").path("matchLabels")))
                        .entrySet().stream()
                                .map(e -> e.getKey() + "=" + e.getValue())
                                .collect(Collectors.joining(",")),
                List.copyOf(ports),
                spec.path("appProtocol").asText().equals("kubernetes.io/h2c") ? "h2c" : "http",
                complaints(object.path("status").path("parents")));
    }

    private static List<String> complaints(JsonNode parents) {
        List<String> complaints = new ArrayList<>();
        for (JsonNode parent : parents) {
            for (JsonNode condition : parent.path("conditions")) {
                if (condition.path("status").asText().equals("False")) {
                    complaints.add(
                            "%s says that it is not %s: %s, %s"
                                    .formatted(
                                            parent.path("parentRef").path("name").asText(),
                                            condition.path("type").asText(),
                                            condition.path("reason").asText(),
                                            condition.path("message").asText()));
                }
            }
        }
        return List.copyOf(complaints);
    }

    /** The workers that these pods are. */
    FoundWorkers workers(Map<String, Pod> pods) {
        Map<String, FoundWorkers.Found> workers = new TreeMap<>();
        Map<String, String> problems = new TreeMap<>();
        Map<String, String> held = new TreeMap<>();
        for (Pod pod : pods.values()) {
            for (int i = 0; i < ports.size() && !pod.ended(); i++) {
                String key = pod.name() + ":" + ports.get(i) + "/" + pod.uid();
                if (pod.address().isEmpty()) {
                    if (pod.stays()) {
                        held.put(key, Pod.NO_ADDRESS);
                    }
                    continue;
                }
                try {
                    workers.put(key, worker(pod, i));
                } catch (IllegalArgumentException e) {
                    problems.put(key, String.valueOf(e.getMessage()));
                }
            }
        }
        return new FoundWorkers(
                Collections.unmodifiableMap(workers),
                Collections.unmodifiableMap(problems),
                Collections.unmodifiableMap(held));
    }

    /** An engine's process behind one port; several of a pod are its data-parallel ranks. */
    private FoundWorkers.Found worker(Pod pod, int index) {
        WorkerRecord record = new WorkerRecord(Map.of(), pod);
        int port = ports.get(index);
        String name = pod.name();
        if (ports.size() > 1) {
            if (record.says("events-endpoint")) {
                throw new IllegalArgumentException(
                        ("the annotation %sevents-endpoint is of one port, and the pool has"
                                        + " several; give %sevents-port")
                                .formatted(WorkerRecord.PREFIX, WorkerRecord.PREFIX));
            }
            record.otherwise("dp-size", "1");
            name += "-" + port;
        }
        String ip = pod.address();
        return new FoundWorkers.Found(
                record.spec(name, scheme, ip.contains(":") ? "[" + ip + "]" : ip, port, index),
                pod.leaves(),
                pod.ready() ? null : Pod.NOT_READY,
                record.doubt());
    }
}
