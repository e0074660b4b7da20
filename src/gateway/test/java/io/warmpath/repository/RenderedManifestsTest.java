package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import io.warmpath.config.source.ConfigCheck;
import io.warmpath.config.source.WarmpathSources;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is applied to a cluster, as the real tools render it, fits Kubernetes and itself. */
class RenderedManifestsTest {
    /** A name with the hash that kustomize puts at its end, of letters and digits of its own. */
    private static final String HASHED = "warmpath-[bcdfghkmt24-9]{10}";

    private static final Set<String> CHARTS_OWN =
            Set.of(
                    "app.kubernetes.io/instance",
                    "app.kubernetes.io/version",
                    "app.kubernetes.io/managed-by",
                    "helm.sh/chart",
                    "checksum/config");

    /** Checks every rendering; a problem is told with the rendering's name. */
    private interface Check {
        void look(List<JsonNode> objects, List<String> problems);
    }

    private static void everywhere(Check check) {
        List<String> problems = new ArrayList<>();
        RenderedManifests.all()
                .forEach(
                        (name, objects) -> {
                            List<String> found = new ArrayList<>();
                            check.look(objects, found);
                            found.forEach(p -> problems.add(name + ": " + p));
                        });
        assertEquals(List.of(), problems);
    }

    private static Stream<JsonNode> of(List<JsonNode> objects, String kind) {
        return objects.stream().filter(o -> o.path("kind").asText().equals(kind));
    }

    private static List<JsonNode> workloads(List<JsonNode> objects) {
        return Stream.concat(of(objects, "Deployment"), of(objects, "StatefulSet")).toList();
    }

    private static String name(JsonNode object) {
        return object.path("kind").asText() + " " + object.at("/metadata/name").asText();
    }

    /** Workloads whose pods carry these labels. */
    private static List<JsonNode> selected(List<JsonNode> objects, JsonNode labels) {
        return workloads(objects).stream()
                .filter(w -> carries(w.at("/spec/template/metadata/labels"), labels))
                .toList();
    }

    private static boolean carries(JsonNode labels, JsonNode wanted) {
        return wanted.properties().stream()
                .allMatch(e -> e.getValue().equals(labels.path(e.getKey())));
    }

    private static Map<String, Integer> ports(JsonNode workload) {
        Map<String, Integer> ports = new HashMap<>();
        for (JsonNode container : workload.at("/spec/template/spec/containers")) {
            for (JsonNode port : container.path("ports")) {
                ports.put(port.path("name").asText(), port.path("containerPort").asInt());
            }
        }
        return ports;
    }

    @Test
    void every_field_is_one_that_kubernetes_knows() {
        everywhere(
                (objects, problems) ->
                        objects.forEach(
                                o ->
                                        KubernetesModels.problems(o).stream()
                                                .map(p -> name(o) + ": " + p)
                                                .forEach(problems::add)));
    }

    @Test
    void a_field_that_kubernetes_does_not_know_is_seen() {
        for (String wrong :
                List.of("/spec/template/spec", "/spec", "/spec/template/spec/containers/0")) {
            JsonNode deployment =
                    of(RenderedManifests.all().get("overlays/embedded"), "Deployment")
                            .findFirst()
                            .orElseThrow()
                            .deepCopy();
            ((ObjectNode) deployment.at(wrong)).put("restartPolicies", "Always");
            assertEquals(1, KubernetesModels.problems(deployment).size(), wrong);
        }
        JsonNode rule =
                of(RenderedManifests.all().get("components"), "PrometheusRule")
                        .findFirst()
                        .orElseThrow()
                        .deepCopy();
        ((ObjectNode) rule.at("/spec/groups/0/rules/0")).put("expression", "1");
        assertEquals(1, KubernetesModels.problems(rule).size());
    }

    @Test
    void every_selector_finds_pods_and_no_foreign_ones() {
        everywhere(
                (objects, problems) -> {
                    for (JsonNode o : objects) {
                        String at =
                                switch (o.path("kind").asText()) {
                                    case "Service" -> "/spec/selector";
                                    case "NetworkPolicy" -> "/spec/podSelector/matchLabels";
                                    case "PodDisruptionBudget",
                                            "PodMonitor",
                                            "Deployment",
                                            "StatefulSet" ->
                                            "/spec/selector/matchLabels";
                                    default -> "";
                                };
                        if (!at.isEmpty() && selected(objects, o.at(at)).size() != 1) {
                            problems.add(
                                    name(o)
                                            + " selects "
                                            + selected(objects, o.at(at)).stream()
                                                    .map(RenderedManifestsTest::name)
                                                    .toList());
                        }
                    }
                });
    }

    @Test
    void every_named_port_is_one_of_the_pods_behind() {
        everywhere(
                (objects, problems) -> {
                    for (JsonNode o : objects) {
                        String kind = o.path("kind").asText();
                        if (kind.equals("Service")) {
                            Map<String, Integer> ports =
                                    ports(selected(objects, o.at("/spec/selector")).getFirst());
                            for (JsonNode port : o.at("/spec/ports")) {
                                if (!ports.containsKey(port.path("targetPort").asText())) {
                                    problems.add(name(o) + ": " + port);
                                }
                            }
                        } else if (kind.equals("NetworkPolicy")) {
                            Map<String, Integer> ports =
                                    ports(
                                            selected(objects, o.at("/spec/podSelector/matchLabels"))
                                                    .getFirst());
                            for (JsonNode rule : o.at("/spec/ingress")) {
                                for (JsonNode port : rule.path("ports")) {
                                    if (!ports.containsKey(port.path("port").asText())) {
                                        problems.add(name(o) + ": " + port);
                                    }
                                }
                            }
                        }
                    }
                    for (JsonNode workload : workloads(objects)) {
                        for (JsonNode c : workload.at("/spec/template/spec/containers")) {
                            for (String probe :
                                    List.of("startupProbe", "readinessProbe", "livenessProbe")) {
                                JsonNode port = c.path(probe).at("/httpGet/port");
                                if (c.has(probe) && !ports(workload).containsKey(port.asText())) {
                                    problems.add(name(workload) + ": " + probe);
                                }
                            }
                        }
                    }
                });
    }

    @Test
    void ways_in_lead_to_a_service_and_let_out_the_api_alone() {
        Map<String, List<JsonNode>> all = RenderedManifests.all();
        for (String rendering : List.of("components", "chart, all on")) {
            List<JsonNode> objects = all.get(rendering);
            JsonNode service =
                    of(objects, "Service")
                            .filter(s -> s.at("/metadata/name").asText().equals("warmpath"))
                            .findFirst()
                            .orElseThrow();
            JsonNode path =
                    of(objects, "Ingress")
                            .findFirst()
                            .orElseThrow()
                            .at("/spec/rules/0/http/paths/0");
            assertEquals("/v1", path.path("path").asText());
            assertEquals("warmpath", path.at("/backend/service/name").asText());
            assertEquals(service.at("/spec/ports/0/name"), path.at("/backend/service/port/name"));
            JsonNode rule = of(objects, "HTTPRoute").findFirst().orElseThrow().at("/spec/rules/0");
            assertEquals("/v1", rule.at("/matches/0/path/value").asText());
            assertEquals("warmpath", rule.at("/backendRefs/0/name").asText());
            assertEquals(service.at("/spec/ports/0/port"), rule.at("/backendRefs/0/port"));
            JsonNode scaled =
                    of(objects, "HorizontalPodAutoscaler")
                            .findFirst()
                            .orElseThrow()
                            .at("/spec/scaleTargetRef");
            JsonNode deployment = of(objects, "Deployment").findFirst().orElseThrow();
            assertEquals(deployment.at("/metadata/name"), scaled.path("name"));
            assertFalse(deployment.path("spec").has("replicas"), "an apply would set it back");
        }
    }

    @Test
    void the_way_to_a_picker_leads_by_its_pool_to_its_service() {
        Map<String, List<JsonNode>> all = RenderedManifests.all();
        for (String rendering :
                List.of(
                        "overlays/endpoint-picker",
                        "examples/endpoint-picker/istio",
                        "examples/endpoint-picker/kgateway",
                        "examples/endpoint-picker/envoy-gateway",
                        "chart, endpoint picker")) {
            List<JsonNode> objects = all.get(rendering);
            JsonNode pool = of(objects, "InferencePool").findFirst().orElseThrow();
            JsonNode way =
                    of(objects, "HTTPRoute")
                            .findFirst()
                            .orElseThrow()
                            .at("/spec/rules/0/backendRefs/0");
            assertEquals(pool.path("kind"), way.path("kind"), rendering);
            assertEquals(pool.at("/metadata/name"), way.path("name"), rendering);
            assertTrue(
                    pool.path("apiVersion").asText().startsWith(way.path("group").asText() + "/"));
            JsonNode service = of(objects, "Service").findFirst().orElseThrow();
            assertEquals(service.at("/metadata/name"), pool.at("/spec/endpointPickerRef/name"));
            JsonNode port = service.at("/spec/ports/1");
            assertEquals(port.path("port"), pool.at("/spec/endpointPickerRef/port/number"));
            assertEquals("http2", port.path("appProtocol").asText());
            JsonNode container =
                    of(objects, "Deployment")
                            .findFirst()
                            .orElseThrow()
                            .at("/spec/template/spec/containers/0");
            assertEquals("picker", container.at("/args/0").asText());
            assertEquals(port.path("port").asText(), container.at("/args/4").asText());
            assertEquals(port.path("targetPort"), container.at("/ports/1/name"));
            assertEquals(
                    pool.at("/metadata/name").asText(),
                    container
                            .path("env")
                            .valueStream()
                            .filter(
                                    v ->
                                            v.path("name")
                                                    .asText()
                                                    .equals("WARMPATH_KUBERNETES_INFERENCE_POOL"))
                            .map(v -> v.path("value").asText())
                            .findFirst()
                            .orElseThrow());
            of(objects, "Gateway")
                    .forEach(
                            g ->
                                    assertEquals(
                                            g.at("/metadata/name"),
                                            of(objects, "HTTPRoute")
                                                    .findFirst()
                                                    .orElseThrow()
                                                    .at("/spec/parentRefs/0/name")));
        }
    }

    @Test
    void engines_are_scaled_by_the_pressure_of_the_model_that_they_serve() {
        List<JsonNode> objects = RenderedManifests.all().get("engines that scale");
        JsonNode set = of(objects, "StatefulSet").findFirst().orElseThrow();
        JsonNode scaler = of(objects, "HorizontalPodAutoscaler").findFirst().orElseThrow();
        assertEquals(set.at("/metadata/name"), scaler.at("/spec/scaleTargetRef/name"));
        assertFalse(set.path("spec").has("replicas"), "an apply would set it back");
        JsonNode metric = scaler.at("/spec/metrics/0/external");
        assertEquals("warmpath_fleet_pressure", metric.at("/metric/name").asText());
        String model = metric.at("/metric/selector/matchLabels/model").asText();
        assertTrue(
                set.at("/spec/template/spec/containers/0/args")
                        .toString()
                        .contains("--served-model-name=" + model + "\""));
    }

    @Test
    void probes_ask_for_paths_that_the_gateway_has() {
        String routes = RepositoryFiles.text("src/gateway/main/java/io/warmpath/api/Routes.java");
        Set<String> asked = new TreeSet<>();
        everywhere(
                (objects, problems) ->
                        of(objects, "Deployment")
                                .flatMap(d -> d.findValues("httpGet").stream())
                                .forEach(get -> asked.add(get.path("path").asText())));
        assertEquals(Set.of("/live", "/ready"), asked);
        for (String path : asked) {
            assertTrue(routes.contains("get(router, \"" + path + "\""), path);
        }
    }

    @Test
    void every_setting_is_a_key_of_the_gateway() {
        SettingCatalog catalog = SettingCatalog.read();
        Set<String> names =
                catalog.keys().stream()
                        .map(SettingKey::environmentName)
                        .collect(Collectors.toSet());
        everywhere(
                (objects, problems) -> {
                    for (JsonNode workload : workloads(objects)) {
                        for (JsonNode c : workload.at("/spec/template/spec/containers")) {
                            for (JsonNode variable : c.path("env")) {
                                String name = variable.path("name").asText();
                                if (name.startsWith("WARMPATH_") && !names.contains(name)) {
                                    problems.add(name(workload) + " sets " + name);
                                }
                            }
                        }
                    }
                    of(objects, "ConfigMap")
                            .filter(m -> m.path("data").has("warmpath.yaml"))
                            .forEach(
                                    m ->
                                            problems.addAll(
                                                    ConfigCheck.problems(
                                                            catalog,
                                                            config(
                                                                    m.at("/data/warmpath.yaml")
                                                                            .asText()))));
                });
    }

    private static SmallRyeConfig config(String yaml) {
        return new SmallRyeConfigBuilder()
                .withSources(WarmpathSources.yaml("file", yaml))
                .withMapping(WarmpathConfig.class)
                .withValidateUnknown(false)
                .build();
    }

    @Test
    void images_are_this_version_or_another_programs() {
        Matcher version =
                Pattern.compile("<artifactId>warmpath</artifactId>\\s*<version>([^<]+)<")
                        .matcher(RepositoryFiles.text("pom.xml"));
        assertTrue(version.find());
        String ours = "warmpath:" + version.group(1);
        everywhere(
                (objects, problems) ->
                        objects.stream()
                                .flatMap(o -> o.findValuesAsText("image").stream())
                                .filter(i -> !i.equals(ours))
                                .filter(i -> !i.equals(RenderedManifests.REGISTRY + "/" + ours))
                                .filter(i -> !i.matches("(sglang|vllm|nats):[0-9.]+"))
                                .filter(
                                        i ->
                                                !i.matches(
                                                        "(lmsysorg/sglang|vllm/vllm-openai):v[0-9.]+"))
                                .forEach(problems::add));
    }

    /**
     * Kubernetes puts {@code WARMPATH_PORT} and the like into pods beside a Service of that name,
     * and programs of ours take them for settings.
     */
    @Test
    void pods_of_ours_get_no_variables_of_services() {
        Set<String> ours = new TreeSet<>();
        everywhere(
                (objects, problems) -> {
                    for (JsonNode object : objects) {
                        JsonNode pod =
                                object.path("kind").asText().equals("Pod")
                                        ? object.path("spec")
                                        : object.at("/spec/template/spec");
                        boolean runsOurs =
                                pod.findValuesAsText("image").stream()
                                        .anyMatch(i -> i.contains("warmpath:"));
                        if (runsOurs) {
                            ours.add(name(object));
                            if (pod.path("enableServiceLinks").asBoolean(true)) {
                                problems.add(name(object) + ": enableServiceLinks");
                            }
                        }
                    }
                });
        assertTrue(ours.contains("Deployment warmpath"), ours.toString());
        assertTrue(ours.stream().anyMatch(o -> o.startsWith("StatefulSet")), "no relay: " + ours);
    }

    @Test
    void every_pod_outlives_its_pause_and_has_bounds() {
        everywhere(
                (objects, problems) -> {
                    for (JsonNode workload : workloads(objects)) {
                        JsonNode pod = workload.at("/spec/template/spec");
                        int grace = pod.path("terminationGracePeriodSeconds").asInt();
                        for (JsonNode c : pod.path("containers")) {
                            if (c.at("/lifecycle/preStop/sleep/seconds").asInt() >= grace) {
                                problems.add(name(workload) + ": preStop");
                            }
                            if (!c.at("/resources/limits").has("memory")
                                    || !c.at("/resources/requests").has("cpu")) {
                                problems.add(name(workload) + ": no bounds");
                            }
                            if (c.at("/securityContext/allowPrivilegeEscalation").asBoolean(true)) {
                                problems.add(name(workload) + ": may gain rights");
                            }
                        }
                    }
                });
    }

    @Test
    void alerts_and_the_autoscaler_ask_for_metrics_that_exist() {
        String known = RepositoryFiles.text("src/docs/reference/metrics.md");
        Set<String> asked = new TreeSet<>();
        everywhere(
                (objects, problems) -> {
                    Stream<String> texts =
                            Stream.concat(
                                    of(objects, "PrometheusRule")
                                            .flatMap(r -> r.findValuesAsText("expr").stream()),
                                    of(objects, "HorizontalPodAutoscaler")
                                            .flatMap(h -> h.findValues("metric").stream())
                                            .map(m -> m.path("name").asText()));
                    texts.forEach(
                            text -> {
                                Matcher m = Pattern.compile("warmpath_\\w+").matcher(text);
                                while (m.find()) {
                                    asked.add(m.group());
                                }
                            });
                });
        assertTrue(asked.size() > 6, asked.toString());
        asked.removeIf(metric -> known.contains("| `" + metric + "` |"));
        assertEquals(Set.of(), asked);
    }

    @Test
    void the_chart_makes_what_the_manifests_are() {
        Map<String, List<JsonNode>> all = RenderedManifests.all();
        assertSame(all.get("overlays/embedded"), all.get("chart"), Set.of());
        assertSame(
                all.get("overlays/endpoint-picker"), all.get("chart, endpoint picker"), Set.of());
        // The rest is compared kind by kind: the overlay brings NATS along, the chart does not.
        assertSame(
                all.get("components"),
                all.get("chart, all on"),
                Set.of(
                        "HorizontalPodAutoscaler warmpath",
                        "PodMonitor warmpath",
                        "PrometheusRule warmpath",
                        "ConfigMap warmpath-dashboards",
                        "Ingress warmpath",
                        "HTTPRoute warmpath"));
    }

    private static void assertSame(List<JsonNode> one, List<JsonNode> other, Set<String> only) {
        Map<String, JsonNode> ones = byName(one);
        Map<String, JsonNode> others = byName(other);
        if (only.isEmpty()) {
            assertEquals(ones.keySet(), others.keySet());
        }
        for (String name : only.isEmpty() ? ones.keySet() : only) {
            assertEquals(ones.get(name).toPrettyString(), others.get(name).toPrettyString(), name);
        }
    }

    private static Map<String, JsonNode> byName(List<JsonNode> objects) {
        Map<String, JsonNode> byName = new HashMap<>();
        for (JsonNode o : objects) {
            if (o.at("/metadata/annotations").has("helm.sh/hook")) {
                continue; // what `helm test` runs is Helm's alone
            }
            JsonNode plain = plain(o.deepCopy());
            byName.put(name(plain), plain);
        }
        return byName;
    }

    /** Without what each tool adds in its own way: hashes in names, release labels, comments. */
    private static JsonNode plain(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.remove(CHARTS_OWN);
            for (Map.Entry<String, JsonNode> e : List.copyOf(object.properties())) {
                JsonNode value = e.getValue();
                if (e.getKey().equals("warmpath.yaml")) {
                    Map<?, ?> settings = new org.yaml.snakeyaml.Yaml().load(value.asText());
                    object.put("warmpath.yaml", number(settings.toString()));
                } else if (value.isTextual() && value.asText().matches(HASHED)) {
                    object.put(e.getKey(), "warmpath");
                } else if (e.getKey().equals("image")) {
                    object.put(
                            "image", value.asText().replace(RenderedManifests.REGISTRY + "/", ""));
                } else if (e.getKey().equals("subjects")) {
                    value.forEach(s -> ((ObjectNode) s).remove("namespace"));
                }
            }
            Map<String, JsonNode> sorted = new java.util.TreeMap<>();
            object.properties().forEach(e -> sorted.put(e.getKey(), plain(e.getValue())));
            object.removeAll();
            sorted.entrySet()
                    .removeIf(e -> e.getKey().equals("annotations") && e.getValue().isEmpty());
            object.setAll(sorted);
        } else if (node.isArray()) {
            node.forEach(RenderedManifestsTest::plain);
        }
        return node;
    }

    /** Helm writes 1.0 as 1. */
    private static String number(String text) {
        return text.replaceAll("\\b(\\d+)\\.0\\b", "$1");
    }

    @Test
    void alerts_link_to_where_the_operator_shows_what_to_do() {
        RenderedManifests.all();
        RenderedManifests.Said said =
                RenderedManifests.renderChart(
                        "{\"image\":{\"registry\":\"r\"},\"monitoring\":{\"enabled\":true,"
                                + "\"runbooks\":\"https://wiki/ops\"}}");
        assertEquals(0, said.status(), said.errors());
        long alerts = said.out().lines().filter(l -> l.contains("- alert: ")).count();
        assertTrue(alerts > 5, said.out());
        assertEquals(
                alerts,
                said.out()
                        .lines()
                        .filter(l -> l.strip().startsWith("runbook_url: https://wiki/ops#warmpath"))
                        .count());
        assertTrue(!said.out().contains("runbook:"), said.out());
    }

    @Test
    void the_chart_refuses_what_cannot_work() {
        RenderedManifests.all();
        assertRefused("{}", "image.registry");
        Map<String, String> wrong =
                Map.of(
                        "{\"replica\": 2}", "replica",
                        "{\"service\": {\"port\": 0}}", "port",
                        "{\"image\": {\"repository\": \"\"}}", "repository",
                        "{\"monitoring\": {\"runbooks\": \"wiki/ops\"}}", "runbooks",
                        "{\"endpointPicker\": {\"targetPorts\": []}}", "targetPorts",
                        "{\"replicas\": 2}", "config.replica.sync",
                        "{\"autoscaling\": {\"enabled\": true}}", "config.replica.sync",
                        "{\"config\": {\"http\": {\"shutdown-delay\": \"30s\"}}}", "shutdown-delay",
                        "{\"terminationGracePeriodSeconds\": 35}", "terminationGracePeriodSeconds");
        String registry = "{\"image\": {\"registry\": \"r\"}, ";
        wrong.forEach(
                (values, named) ->
                        assertRefused(
                                values.contains("image") ? values : registry + values.substring(1),
                                named));
    }

    private static void assertRefused(String values, String named) {
        RenderedManifests.Said said = RenderedManifests.renderChart(values);
        assertEquals(1, said.status(), values + said.out());
        assertTrue(said.errors().contains(named), values + ": " + said.errors());
    }

    @Test
    void the_notes_have_the_first_request_and_say_what_is_missing() {
        RenderedManifests.all();
        RenderedManifests.Said said =
                RenderedManifests.renderChart(RenderedManifests.LEAST_VALUES, "--notes");
        assertEquals(0, said.status(), said.errors());
        assertTrue(
                said.out().contains("curl http://127.0.0.1:8000/v1/chat/completions"), said.out());
        assertTrue(said.out().contains("There is no Secret warmpath-admin"), said.out());
        assertTrue(!said.out().contains("NO ENGINES"), said.out());
        String none = "{\"image\": {\"registry\": \"r\"}, \"discovery\": {\"enabled\": false}}";
        assertTrue(RenderedManifests.renderChart(none, "--notes").out().contains("NO ENGINES"));
    }
}
