package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;

/**
 * What is used of a pod. Immutable.
 *
 * @param uid another one for each life, where a StatefulSet gives the same name again
 * @param leaving it is being deleted
 * @param ports TCP ports of its containers that have a name
 */
record Pod(
        String name,
        String uid,
        boolean leaving,
        Map<String, String> labels,
        Map<String, String> annotations,
        Map<String, Integer> ports) {

    static Pod of(JsonNode object) {
        JsonNode metadata = object.path("metadata");
        Map<String, Integer> ports = new HashMap<>();
        for (JsonNode container : object.path("spec").path("containers")) {
            for (JsonNode port : container.path("ports")) {
                if (port.hasNonNull("name") && port.path("protocol").asText("TCP").equals("TCP")) {
                    ports.put(port.path("name").asText(), port.path("containerPort").asInt());
                }
            }
        }
        return new Pod(
                metadata.path("name").asText(),
                metadata.path("uid").asText(),
                metadata.hasNonNull("deletionTimestamp"),
                texts(metadata.path("labels")),
                texts(metadata.path("annotations")),
                Map.copyOf(ports));
    }

    static Map<String, String> texts(JsonNode object) {
        Map<String, String> texts = new HashMap<>();
        object.properties().forEach(e -> texts.put(e.getKey(), e.getValue().asText()));
        return Map.copyOf(texts);
    }
}
