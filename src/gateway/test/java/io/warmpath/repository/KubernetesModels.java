package io.warmpath.repository;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.Gateway;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.GatewayClass;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.kubernetes.api.model.networking.v1.Ingress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Kubernetes' own idea of its objects, as fabric8's classes have it: what they do not take up is no
 * field of the API. Of makers that are not among them the fields used here are listed from their
 * documentation.
 */
final class KubernetesModels {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final Map<String, Class<?>> KINDS =
            Map.ofEntries(
                    Map.entry("v1/ConfigMap", ConfigMap.class),
                    Map.entry("v1/PersistentVolumeClaim", PersistentVolumeClaim.class),
                    Map.entry("v1/Pod", Pod.class),
                    Map.entry("v1/Service", Service.class),
                    Map.entry("v1/ServiceAccount", ServiceAccount.class),
                    Map.entry("apps/v1/Deployment", Deployment.class),
                    Map.entry("apps/v1/StatefulSet", StatefulSet.class),
                    Map.entry(
                            "autoscaling/v2/HorizontalPodAutoscaler",
                            HorizontalPodAutoscaler.class),
                    Map.entry("batch/v1/Job", Job.class),
                    Map.entry("gateway.networking.k8s.io/v1/Gateway", Gateway.class),
                    Map.entry("gateway.networking.k8s.io/v1/GatewayClass", GatewayClass.class),
                    Map.entry("gateway.networking.k8s.io/v1/HTTPRoute", HTTPRoute.class),
                    Map.entry("networking.k8s.io/v1/Ingress", Ingress.class),
                    Map.entry("networking.k8s.io/v1/NetworkPolicy", NetworkPolicy.class),
                    Map.entry("policy/v1/PodDisruptionBudget", PodDisruptionBudget.class),
                    Map.entry("rbac.authorization.k8s.io/v1/Role", Role.class),
                    Map.entry("rbac.authorization.k8s.io/v1/RoleBinding", RoleBinding.class));

    /** Paths below {@code spec}, list indexes left out. */
    private static final Map<String, Set<String>> OTHERS =
            Map.of(
                    "monitoring.coreos.com/v1/PodMonitor",
                    Set.of(
                            "/selector/matchLabels/*",
                            "/podMetricsEndpoints/port",
                            "/podMetricsEndpoints/path",
                            "/podMetricsEndpoints/interval"),
                    "monitoring.coreos.com/v1/PrometheusRule",
                    Set.of(
                            "/groups/name",
                            "/groups/rules/alert",
                            "/groups/rules/expr",
                            "/groups/rules/for",
                            "/groups/rules/labels/*",
                            "/groups/rules/annotations/*"),
                    "inference.networking.k8s.io/v1/InferencePool",
                    Set.of(
                            "/selector/matchLabels/*",
                            "/targetPorts/number",
                            "/appProtocol",
                            "/endpointPickerRef/name",
                            "/endpointPickerRef/port/number",
                            "/endpointPickerRef/failureMode"),
                    "networking.istio.io/v1/DestinationRule",
                    Set.of(
                            "/host",
                            "/trafficPolicy/portLevelSettings/port/number",
                            "/trafficPolicy/portLevelSettings/tls/mode",
                            "/trafficPolicy/portLevelSettings/tls/insecureSkipVerify"));

    private KubernetesModels() {}

    /** One sentence per field, or kind, that is none. */
    static List<String> problems(JsonNode object) {
        String kind = object.path("apiVersion").asText() + "/" + object.path("kind").asText();
        Set<String> known = OTHERS.get(kind);
        if (known != null) {
            Set<String> strange = new TreeSet<>(leaves("", object.path("spec")));
            strange.removeIf(leaf -> known.contains(leaf) || known.contains(parent(leaf) + "/*"));
            return strange.stream().map(leaf -> kind + " has no spec" + leaf).toList();
        }
        Class<?> model = KINDS.get(kind);
        if (model == null) {
            return List.of("no kind " + kind);
        }
        try {
            JsonNode taken = JSON.valueToTree(JSON.treeToValue(object, model));
            List<String> problems = new ArrayList<>();
            strange(kind, JSON.readerFor(model).readValue(object), problems);
            // A text where a number belongs would be taken here, and refused by the API.
            different(kind, object, taken, problems);
            return problems;
        } catch (java.io.IOException | IllegalArgumentException e) {
            return List.of(kind + ": " + e.getMessage());
        }
    }

    private static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/'));
    }

    private static List<String> leaves(String path, JsonNode node) {
        List<String> leaves = new ArrayList<>();
        if (node.isObject()) {
            node.properties()
                    .forEach(
                            e ->
                                    leaves.addAll(
                                            leaves(
                                                    path + "/" + e.getKey().replace("/", "~1"),
                                                    e.getValue())));
        } else if (node.isArray()) {
            node.forEach(e -> leaves.addAll(leaves(path, e)));
        } else {
            leaves.add(path);
        }
        return leaves;
    }

    /** The models keep what they do not know, beside what they do. */
    private static void strange(String path, Object value, List<String> problems) {
        switch (value) {
            case null -> {}
            case List<?> list -> list.forEach(each -> strange(path, each, problems));
            case Map<?, ?> map -> map.forEach((k, each) -> strange(path + "/" + k, each, problems));
            case Object bean when bean.getClass().getName().startsWith("io.fabric8.") -> {
                for (java.lang.reflect.Method m : bean.getClass().getMethods()) {
                    if (m.getParameterCount() > 0
                            || !m.getName().startsWith("get")
                            || !m.getDeclaringClass().getName().startsWith("io.fabric8.")) {
                        continue;
                    }
                    Object inner = call(m, bean);
                    String name = m.getName().substring(3);
                    if (name.equals("AdditionalProperties")) {
                        ((Map<?, ?>) inner)
                                .keySet()
                                .forEach(k -> problems.add(path + " has no field " + k));
                    } else {
                        strange(path + "/" + name, inner, problems);
                    }
                }
            }
            default -> {}
        }
    }

    private static Object call(java.lang.reflect.Method m, Object bean) {
        try {
            return m.invoke(bean);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static void different(
            String path, JsonNode said, JsonNode taken, List<String> problems) {
        if (said.isObject() && taken.isObject()) {
            said.properties()
                    .forEach(
                            e -> {
                                JsonNode other = taken.path(e.getKey());
                                boolean empty =
                                        e.getValue().isContainerNode() && e.getValue().isEmpty();
                                if (!(empty && other.isMissingNode())) {
                                    different(
                                            path + "/" + e.getKey(), e.getValue(), other, problems);
                                }
                            });
        } else if (said.isArray() && taken.isArray() && said.size() == taken.size()) {
            for (int i = 0; i < said.size(); i++) {
                different(path + "/" + i, said.get(i), taken.get(i), problems);
            }
        } else if (said.isNumber() != taken.isNumber() || !said.asText().equals(taken.asText())) {
            problems.add(path + " is " + said + ", which is read as " + taken);
        }
    }
}
