package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is used of an EndpointSlice ({@code discovery.k8s.io/v1}). Immutable.
 *
 * @param service the Service it belongs to, empty for one made by hand
 * @param family IPv4, IPv6 or FQDN
 * @param ports by name; the only port of a Service may have the empty name
 */
record Slice(
        String name,
        String service,
        String family,
        Map<String, String> annotations,
        Map<String, Integer> ports,
        List<Endpoint> endpoints) {

    /**
     * @param serving takes requests; true too for one whose state is not known, as the API asks for
     * @param pod name of the pod behind it, null when it is none
     * @param zone of its node; empty: not told
     */
    record Endpoint(
            String address,
            boolean serving,
            boolean terminating,
            @Nullable String pod,
            String zone) {}

    static Slice of(JsonNode object) {
        JsonNode metadata = object.path("metadata");
        Map<String, Integer> ports = new HashMap<>();
        for (JsonNode port : object.path("ports")) {
            // Without a number it means all ports.
            if (port.path("port").isInt()) {
                ports.put(port.path("name").asText(""), port.path("port").asInt());
            }
        }
        List<Endpoint> endpoints = new ArrayList<>();
        for (JsonNode endpoint : object.path("endpoints")) {
            endpoints.add(endpoint(endpoint));
        }
        return new Slice(
                metadata.path("name").asText(),
                metadata.path("labels").path("kubernetes.io/service-name").asText(""),
                object.path("addressType").asText(),
                Pod.texts(metadata.path("annotations")),
                Map.copyOf(ports),
                List.copyOf(endpoints));
    }

    private static Endpoint endpoint(JsonNode endpoint) {
        JsonNode conditions = endpoint.path("conditions");
        boolean ready = conditions.path("ready").asBoolean(true);
        JsonNode target = endpoint.path("targetRef");
        return new Endpoint(
                // All addresses of one endpoint mean the same; consumers take the first.
                endpoint.path("addresses").path(0).asText(),
                conditions.path("serving").asBoolean(ready),
                conditions.path("terminating").asBoolean(false),
                target.path("kind").asText().equals("Pod") ? target.path("name").asText() : null,
                endpoint.path("zone").asText(""));
    }
}
