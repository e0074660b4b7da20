package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/** Pods and EndpointSlices as controllers write them. */
final class Objects {
    static final String NAMESPACE = "models";
    static final String SELECTOR = "app.kubernetes.io/component=engine";
    static final ObjectMapper JSON = new ObjectMapper();

    private Objects() {}

    static ObjectNode pod(String name, Map<String, String> annotations) {
        ObjectNode pod = object("v1", "Pod", name);
        ObjectNode metadata = pod.withObject("metadata");
        metadata.withObject("labels").put("app.kubernetes.io/component", "engine");
        annotations.forEach(metadata.withObject("annotations")::put);
        // Keeps a pod that is deleted there until the test is done with it.
        metadata.withArray("finalizers").add("warmpath.io/test");
        ObjectNode container = pod.withObject("spec").withArray("containers").addObject();
        container.put("name", "engine").put("image", "engine:1");
        return pod;
    }

    static ObjectNode named(ObjectNode pod, String port, int number) {
        ((ObjectNode) pod.at("/spec/containers/0"))
                .withArray("ports")
                .addObject()
                .put("name", port)
                .put("containerPort", number)
                .put("protocol", "TCP");
        return pod;
    }

    static ObjectNode slice(String name, String family, Map<String, Integer> ports) {
        ObjectNode slice = object("discovery.k8s.io/v1", "EndpointSlice", name);
        slice.withObject("metadata")
                .withObject("labels")
                .put("app.kubernetes.io/component", "engine")
                .put("kubernetes.io/service-name", "engines");
        slice.put("addressType", family);
        ArrayNode list = slice.putArray("ports");
        ports.forEach(
                (port, number) ->
                        list.addObject()
                                .put("name", port)
                                .put("port", number)
                                .put("protocol", "TCP"));
        slice.putArray("endpoints");
        return slice;
    }

    static ObjectNode serving(ObjectNode slice, String address, String pod) {
        return endpoint(slice, address, pod, true, false);
    }

    static ObjectNode endpoint(
            ObjectNode slice, String address, String pod, boolean serving, boolean terminating) {
        ObjectNode endpoint = slice.withArray("endpoints").addObject();
        endpoint.putArray("addresses").add(address);
        endpoint.withObject("conditions")
                .put("ready", serving && !terminating)
                .put("serving", serving)
                .put("terminating", terminating);
        endpoint.withObject("targetRef")
                .put("kind", "Pod")
                .put("name", pod)
                .put("namespace", NAMESPACE);
        return slice;
    }

    private static ObjectNode object(String version, String kind, String name) {
        ObjectNode object = JSON.createObjectNode().put("apiVersion", version).put("kind", kind);
        object.withObject("metadata").put("name", name).put("namespace", NAMESPACE);
        return object;
    }
}
