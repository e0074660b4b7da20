package io.warmpath.repository;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * What `kubectl kustomize` and Helm make of k8s and of its example, as trees. Rendered once, by the
 * real programs; {@code ./warmpath test} installs them. Where they are missing the test is skipped
 * and says so.
 */
public final class RenderedManifests {
    private static final Path TOOLS = Path.of(".tools/kubernetes/venv/bin").toAbsolutePath();
    private static final Path CHART = Path.of("k8s/helm/warmpath");
    private static final Path EXAMPLE = Path.of("src/examples/kubernetes");
    private static final ObjectMapper TREES = new ObjectMapper();
    private static final Map<String, List<JsonNode>> RENDERED = new LinkedHashMap<>();

    /** What a registry puts before the name of our image. */
    static final String REGISTRY = "registry.example.com/team";

    /** What the chart cannot do without. */
    static final String LEAST_VALUES = "{\"image\": {\"registry\": \"" + REGISTRY + "\"}}";

    /** Everything that the chart can make. */
    static final String ALL_VALUES =
            """
            {"image": {"registry": "registry.example.com/team"},
             "autoscaling": {"enabled": true}, "monitoring": {"enabled": true},
             "dashboards": {"enabled": true},
             "ingress": {"enabled": true}, "httpRoute": {"enabled": true},
             "config": {"events": {"plane": "nats"}, "replica": {"sync": true},
                        "disaggregation": {"kv-bytes-per-token": "320K", "transfer-rate": 100},
                        "nats": {"servers": ["nats://nats:4222"]}}}
            """;

    /** What the overlay of the endpoint picker is. */
    private static final String PICKER_VALUES =
            """
            {"image": {"registry": "%s"},
             "endpointPicker": {"enabled": true}, "httpRoute": {"enabled": true},
             "terminationGracePeriodSeconds": 600, "config": {"http": {"shutdown-grace": "9m"}}}
            """
                    .formatted(REGISTRY);

    private RenderedManifests() {}

    /** What a program that ran to its end said. */
    record Said(int status, String out, String errors) {}

    /** All renderings, by a name for messages. */
    public static synchronized Map<String, List<JsonNode>> all() {
        if (RENDERED.isEmpty()) {
            for (String folder :
                    List.of(
                            "overlays/embedded",
                            "overlays/ha-nats",
                            "overlays/endpoint-picker",
                            "examples/endpoint-picker/istio",
                            "examples/endpoint-picker/kgateway",
                            "examples/endpoint-picker/envoy-gateway",
                            "workers/sglang",
                            "workers/vllm",
                            "workers/sglang-nats",
                            "workers/vllm-nats",
                            "workers/sglang-disaggregated",
                            "workers/vllm-disaggregated")) {
                RENDERED.put(folder, kustomize("k8s/" + folder));
            }
            RENDERED.put(
                    "components",
                    kustomize(
                            overlay(
                                    "components",
                                    "overlays/ha-nats",
                                    List.of("monitoring", "dashboards", "ingress", "http-route"))));
            RENDERED.put(
                    "engines that scale",
                    kustomize(overlay("engines", "workers/vllm", List.of("engine-autoscaling"))));
            for (String folder : List.of("models", "engines")) {
                RENDERED.put("example, " + folder, kustomize(EXAMPLE.resolve(folder).toString()));
            }
            RENDERED.put("example, gateway", chart(exampleValues()));
            RENDERED.put("chart", chart(LEAST_VALUES));
            RENDERED.put("chart, all on", chart(ALL_VALUES));
            RENDERED.put("chart, endpoint picker", chart(PICKER_VALUES));
        }
        return RENDERED;
    }

    /** An overlay with components that none of ours has. */
    private static String overlay(String name, String resource, List<String> components) {
        Path folder = Path.of("target/k8s").resolve(name);
        StringBuilder text =
                new StringBuilder(
                        """
                        apiVersion: kustomize.config.k8s.io/v1beta1
                        kind: Kustomization
                        resources:
                          - ../../../k8s/%s
                        components:
                        """
                                .formatted(resource));
        components.forEach(c -> text.append("  - ../../../k8s/components/" + c + "\n"));
        try {
            Files.createDirectories(folder);
            // Another JVM of the tests may be reading it.
            Path whole = Files.createTempFile(folder, "kustomization", ".new");
            Files.writeString(whole, text);
            Files.move(whole, folder.resolve("kustomization.yaml"), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return folder.toString();
    }

    private static List<JsonNode> kustomize(String folder) {
        return documents(folder, run("", tool("kubectl"), "kustomize", folder));
    }

    private static String exampleValues() {
        try {
            return TREES.valueToTree(
                            new Yaml(new SafeConstructor(new LoaderOptions()))
                                    .load(Files.readString(EXAMPLE.resolve("values.yaml"))))
                    .toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<JsonNode> chart(String values) {
        return documents("the chart", renderChart(values));
    }

    /**
     * @param flags {@code --notes}: what Helm says after an installation, in place of the manifests
     */
    static Said renderChart(String values, String... flags) {
        List<String> command = new ArrayList<>();
        command.add(tool("python"));
        command.addAll(List.of("src/test/k8s/render_chart.py", CHART.toString(), "models"));
        command.addAll(List.of(flags));
        return run(values, command.toArray(String[]::new));
    }

    private static String tool(String name) {
        Path program = TOOLS.resolve(name);
        if (!Files.isExecutable(program)) {
            String why = "SKIPPED: no " + program + "; ./warmpath k8s-check installs it";
            System.err.println(why);
            Assumptions.abort(why);
        }
        return program.toString();
    }

    private static Said run(String input, String... command) {
        try {
            Process process = new ProcessBuilder(command).start();
            process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().close();
            String out = text(process.getInputStream().readAllBytes());
            String errors = text(process.getErrorStream().readAllBytes());
            return new Said(process.waitFor(), out, errors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static List<JsonNode> documents(String what, Said said) {
        if (said.status() != 0) {
            throw new AssertionError(what + " cannot be rendered: " + said.errors());
        }
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        List<JsonNode> documents = new ArrayList<>();
        for (Object document : new Yaml(new SafeConstructor(strict)).loadAll(said.out())) {
            if (document != null) {
                documents.add(TREES.valueToTree(document));
            }
        }
        return documents;
    }
}
