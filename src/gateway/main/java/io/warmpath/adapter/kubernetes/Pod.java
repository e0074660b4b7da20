package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is used of a pod. Immutable.
 *
 * @param uid another one for each life, where a StatefulSet gives the same name again
 * @param leaving it is being deleted
 * @param ended it never runs again
 * @param ready its condition Ready is true
 * @param unfit why it takes nothing now, as far as its status says; null: it says nothing
 * @param node where it runs; empty while it is nowhere
 * @param address its IP; empty while it has none, and once its containers have ended
 * @param ports TCP ports of its containers that have a name
 */
record Pod(
        String name,
        String uid,
        boolean leaving,
        boolean ended,
        boolean ready,
        @Nullable String unfit,
        String node,
        String address,
        Map<String, String> labels,
        Map<String, String> annotations,
        Map<String, Integer> ports) {

    static final String NOT_READY = "its pod is not ready";
    static final String NO_ADDRESS = "its pod has no address";

    /** Phases of pods that never run again; the address may be another one's by now. */
    private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

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
        JsonNode status = object.path("status");
        boolean ended = ENDED.contains(status.path("phase").asText());
        String address = ended ? "" : status.path("podIP").asText("");
        String ready = ready(status);
        return new Pod(
                metadata.path("name").asText(),
                metadata.path("uid").asText(),
                metadata.hasNonNull("deletionTimestamp"),
                ended,
                ready.equals("True"),
                !ready.isEmpty() && !ready.equals("True")
                        ? NOT_READY
                        : address.isEmpty() && status.hasNonNull("phase") ? NO_ADDRESS : null,
                object.path("spec").path("nodeName").asText(""),
                address,
                texts(metadata.path("labels")),
                texts(metadata.path("annotations")),
                Map.copyOf(ports));
    }

    /** Pods with these labels. */
    static Reflector<Pod> reflector(
            String namespace, String selector, Reflector.Setup setup, Runnable changed) {
        return new Reflector<>(
                "pods",
                setup,
                Reflector.Selection.labelled("/api/v1/namespaces/" + namespace + "/pods", selector),
                Pod::of,
                changed,
                false);
    }

    /** What its condition Ready is; empty: not said. */
    private static String ready(JsonNode status) {
        for (JsonNode condition : status.path("conditions")) {
            if (condition.path("type").asText().equals("Ready")) {
                return condition.path("status").asText();
            }
        }
        return "";
    }

    /** Why it gets nothing any more; null: it may. */
    @Nullable String leaves() {
        return leaving ? "its pod is being deleted" : ended ? "its pod has ended" : null;
    }

    /** It has not ended, nor is it about to. */
    boolean stays() {
        return leaves() == null;
    }

    static Map<String, String> texts(JsonNode object) {
        Map<String, String> texts = new HashMap<>();
        object.properties().forEach(e -> texts.put(e.getKey(), e.getValue().asText()));
        return Map.copyOf(texts);
    }
}
