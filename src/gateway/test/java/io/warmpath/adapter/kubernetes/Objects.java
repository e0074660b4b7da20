package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.yaml.snakeyaml.Yaml;

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

    /** Of a pod: its IP, and whether it is ready. */
    static ObjectNode running(ObjectNode pod, String ip, boolean ready) {
        ObjectNode status = pod.putObject("status");
        status.put("phase", "Running").put("podIP", ip);
        status.putArray("podIPs").addObject().put("ip", ip);
        status.putArray("conditions")
                .addObject()
                .put("type", "Ready")
                .put("status", ready ? "True" : "False");
        return pod;
    }

    static ObjectNode labelled(ObjectNode object, String label, String value) {
        object.withObject("metadata").withObject("labels").put(label, value);
        return object;
    }

    static ObjectNode pool(String name, String label, String value, int... ports) {
        ObjectNode pool = object("inference.networking.k8s.io/v1", "InferencePool", name);
        ObjectNode spec = pool.putObject("spec");
        spec.putObject("selector").putObject("matchLabels").put(label, value);
        ArrayNode list = spec.putArray("targetPorts");
        for (int port : ports) {
            list.addObject().put("number", port);
        }
        ObjectNode picker = spec.putObject("endpointPickerRef").put("name", "warmpath");
        picker.putObject("port").put("number", 9002);
        return pool;
    }

    static ObjectNode objective(String group, String name, String pool, Integer priority) {
        ObjectNode objective = object(group + "/v1alpha2", "InferenceObjective", name);
        ObjectNode spec = objective.putObject("spec");
        spec.putObject("poolRef").put("name", pool);
        if (priority != null) {
            spec.put("priority", priority);
        }
        return objective;
    }

    /**
     * Of llm-d.ai, with one rule.
     *
     * @param model that it is for; empty: all
     * @param targets {@code model} or {@code model:weight}
     */
    static ObjectNode rewrite(String name, String pool, String model, String... targets) {
        ObjectNode rewrite = object("llm-d.ai/v1alpha2", "InferenceModelRewrite", name);
        ObjectNode spec = rewrite.putObject("spec");
        spec.putObject("poolRef").put("name", pool);
        ObjectNode rule = spec.putArray("rules").addObject();
        if (!model.isEmpty()) {
            rule.putArray("matches").addObject().putObject("model").put("value", model);
        }
        ArrayNode to = rule.putArray("targets");
        for (String target : targets) {
            int colon = target.indexOf(':');
            ObjectNode one = to.addObject();
            one.put("modelRewrite", colon < 0 ? target : target.substring(0, colon));
            if (colon >= 0) {
                one.put("weight", Integer.parseInt(target.substring(colon + 1)));
            }
        }
        return rewrite;
    }

    /** The one object of a file. */
    static ObjectNode yaml(Path file) throws IOException {
        return JSON.valueToTree(new Yaml().<Map<String, Object>>load(Files.readString(file)));
    }

    private static ObjectNode object(String version, String kind, String name) {
        ObjectNode object = JSON.createObjectNode().put("apiVersion", version).put("kind", kind);
        object.withObject("metadata").put("name", name).put("namespace", NAMESPACE);
        return object;
    }
}
