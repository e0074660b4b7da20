package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.source.ConfigCheck;
import io.warmpath.config.source.WarmpathSources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The Kubernetes manifests parse, fit together, and fit the gateway's defaults. */
class ManifestsTest {
    private static final ObjectMapper TREES = new ObjectMapper();
    private static final Path BASE = Path.of("k8s", "base");
    private static final int HTTP_PORT = 8000;

    @Test
    void every_manifest_parses_and_says_what_it_is() {
        List<Path> files =
                RepositoryFiles.all().stream()
                        .filter(f -> f.startsWith("k8s") && f.toString().endsWith(".yaml"))
                        // A chart's files are no manifests before they are rendered.
                        .filter(f -> !f.startsWith("k8s/helm"))
                        .toList();
        assertTrue(files.size() > 8, "only " + files);
        for (Path file : files) {
            List<JsonNode> documents = documents(file);
            assertEquals(1, documents.size(), file + " holds one document");
            if (!file.getFileName().toString().equals("warmpath.yaml")) {
                assertTrue(documents.getFirst().hasNonNull("apiVersion"), file.toString());
                assertTrue(documents.getFirst().hasNonNull("kind"), file.toString());
            }
        }
    }

    @Test
    void every_manifest_is_used_and_every_used_file_is_there() throws IOException {
        for (Path file :
                RepositoryFiles.all().stream()
                        .filter(f -> f.startsWith("k8s") && f.endsWith("kustomization.yaml"))
                        .toList()) {
            Path folder = RepositoryFiles.ROOT.resolve(file).getParent();
            JsonNode kustomization = one(file);
            List<String> named =
                    Stream.of(
                                    texts(kustomization.path("resources")),
                                    kustomization
                                            .path("configMapGenerator")
                                            .valueStream()
                                            .flatMap(g -> texts(g.path("files"))),
                                    kustomization
                                            .path("patches")
                                            .valueStream()
                                            .filter(p -> p.has("path"))
                                            .map(p -> p.path("path").asText()))
                            .flatMap(names -> names)
                            .toList();
            for (String name : named) {
                assertTrue(Files.exists(folder.resolve(name)), file + " names " + name);
            }
            try (Stream<Path> beside = Files.list(folder)) {
                for (Path other : beside.filter(f -> f.toString().endsWith(".yaml")).toList()) {
                    String name = other.getFileName().toString();
                    assertTrue(
                            name.equals("kustomization.yaml") || named.contains(name),
                            file + " forgets " + name);
                }
            }
        }
    }

    @Test
    void probes_and_ports_are_the_gateways() {
        JsonNode container = container();
        JsonNode port = container.path("ports").path(0);
        assertEquals("http", port.path("name").asText());
        assertEquals(HTTP_PORT, port.path("containerPort").asInt());
        assertEquals("/live", probe(container, "startupProbe"));
        assertEquals("/live", probe(container, "livenessProbe"));
        assertEquals("/ready", probe(container, "readinessProbe"));
        assertEquals(
                "http", one(BASE.resolve("service.yaml")).at("/spec/ports/0/targetPort").asText());
        JsonNode endpoint =
                one(Path.of("k8s", "components", "monitoring", "podmonitor.yaml"))
                        .at("/spec/podMetricsEndpoints/0");
        assertEquals("http", endpoint.path("port").asText());
        assertEquals("/metrics", endpoint.path("path").asText());
    }

    @Test
    void the_configuration_is_one_the_gateway_starts_with() {
        SettingCatalog catalog = SettingCatalog.read();
        assertEquals(
                Integer.toString(HTTP_PORT),
                catalog.find("warmpath.http.port").orElseThrow().defaultValue());
        List<Path> files =
                RepositoryFiles.all().stream()
                        .filter(f -> f.startsWith("k8s") && f.endsWith("warmpath.yaml"))
                        .toList();
        assertEquals(4, files.size(), files.toString());
        for (Path file : files) {
            SmallRyeConfig config = configuration(RepositoryFiles.text(file.toString()));
            assertEquals(List.of(), ConfigCheck.problems(catalog, config), file.toString());
            assertEquals(
                    HTTP_PORT,
                    config.getConfigMapping(WarmpathConfig.class).http().port(),
                    file.toString());
        }
        SmallRyeConfig wrong = configuration("warmpath:\n  http:\n    prot: 8000\n");
        assertEquals(1, ConfigCheck.problems(catalog, wrong).size(), "a typing error is not seen");
    }

    @Test
    void the_image_sets_no_key_that_the_gateway_refuses() {
        Matcher m =
                Pattern.compile("-D(warmpath\\.[a-z.-]+)=")
                        .matcher(RepositoryFiles.text("src/main/docker/jvm.options"));
        int found = 0;
        for (; m.find(); found++) {
            String key = m.group(1);
            assertTrue(SettingCatalog.read().find(key).isPresent(), key);
        }
        assertTrue(found > 0, "it sets nothing");
    }

    @Test
    void the_image_records_its_cache_with_the_options_it_starts_with() {
        String image = RepositoryFiles.text("src/main/docker/Dockerfile.jvm");
        String java = "[\"/opt/warmpath/lib/runtime/bin/java\", \"@/opt/warmpath/jvm.options\", ";
        String jar = "\"-jar\", \"/opt/warmpath/lib/gateway/quarkus-run.jar\"";
        String cache = "\"-XX:AOTCache=/opt/warmpath/warmpath.aot\", " + jar;
        assertTrue(
                image.contains(
                        "RUN "
                                + java
                                + "\"-Xmx512m\","
                                + " \"-XX:AOTCacheOutput=/opt/warmpath/warmpath.aot\", "
                                + jar));
        assertTrue(image.contains("\"-XX:AOTMode=on\", " + cache), "nothing tries the cache");
        assertTrue(image.contains("ENTRYPOINT " + java + cache + "]"));
    }

    @Test
    void the_admin_token_comes_from_a_secret() {
        JsonNode variable = container().path("env").path(0);
        assertEquals(
                SettingCatalog.read().find("warmpath.admin.token").orElseThrow().environmentName(),
                variable.path("name").asText());
        assertTrue(variable.path("valueFrom").has("secretKeyRef"), "the token stands in the file");
    }

    @Test
    void the_pod_outlives_the_grace_of_its_streams() {
        JsonNode pod = one(BASE.resolve("deployment.yaml")).at("/spec/template/spec");
        int grace =
                Integer.parseInt(
                        one(BASE.resolve("warmpath.yaml"))
                                .at("/warmpath/http/shutdown-grace")
                                .asText()
                                .replace("s", ""));
        int before = container().at("/lifecycle/preStop/sleep/seconds").asInt();
        assertTrue(before > 0, "no preStop");
        assertTrue(
                pod.path("terminationGracePeriodSeconds").asInt() > grace + before,
                "Kubernetes would kill running streams");
    }

    @Test
    void a_picker_outlives_the_grace_of_its_streams() {
        String patches = RepositoryFiles.text("k8s/components/endpoint-picker/kustomization.yaml");
        Matcher seconds =
                Pattern.compile("/terminationGracePeriodSeconds\\s+value: (\\d+)").matcher(patches);
        assertTrue(seconds.find(), patches);
        String grace =
                one(Path.of("k8s/overlays/endpoint-picker/warmpath.yaml"))
                        .at("/warmpath/http/shutdown-grace")
                        .asText();
        int before = container().at("/lifecycle/preStop/sleep/seconds").asInt();
        assertTrue(
                Integer.parseInt(seconds.group(1))
                        > java.time.Duration.parse("PT" + grace).toSeconds() + before);
    }

    @Test
    void everything_selects_the_gateway_and_nothing_else() {
        JsonNode labels = one(BASE.resolve("kustomization.yaml")).at("/labels/0/pairs");
        assertEquals(2, labels.size());
        assertEquals(labels, one(BASE.resolve("deployment.yaml")).at("/spec/selector/matchLabels"));
        assertEquals(labels, one(BASE.resolve("service.yaml")).at("/spec/selector"));
        assertEquals(
                labels,
                one(BASE.resolve("poddisruptionbudget.yaml")).at("/spec/selector/matchLabels"));
        JsonNode policy = one(BASE.resolve("networkpolicy.yaml"));
        assertEquals(labels, policy.at("/spec/podSelector/matchLabels"));
        JsonNode engines = policy.at("/spec/egress/1/to/0/podSelector/matchLabels");
        assertTrue(engines.size() > 0, "the way to the engines is open to everybody");
        assertNotEquals(labels, engines);
    }

    @Test
    void the_container_can_do_no_more_than_it_must() {
        JsonNode pod = one(BASE.resolve("deployment.yaml")).at("/spec/template/spec");
        assertTrue(pod.at("/securityContext/runAsNonRoot").asBoolean());
        JsonNode rights = container().path("securityContext");
        assertTrue(rights.path("readOnlyRootFilesystem").asBoolean());
        assertTrue(rights.path("allowPrivilegeEscalation").isBoolean());
        assertEquals(false, rights.path("allowPrivilegeEscalation").asBoolean());
        assertEquals("ALL", rights.at("/capabilities/drop/0").asText());
        // The root is read-only, so the libraries that unpack themselves need a place.
        List<String> mounts =
                container().path("volumeMounts").findValuesAsText("mountPath").stream().toList();
        assertTrue(mounts.contains("/tmp"), mounts.toString());
    }

    private static SmallRyeConfig configuration(String yaml) {
        return new SmallRyeConfigBuilder()
                .withSources(WarmpathSources.yaml("file", yaml))
                .withMapping(WarmpathConfig.class)
                .withValidateUnknown(false)
                .build();
    }

    private static String probe(JsonNode container, String name) {
        JsonNode get = container.path(name).path("httpGet");
        assertEquals("http", get.path("port").asText(), name);
        return get.path("path").asText();
    }

    private static JsonNode container() {
        return one(BASE.resolve("deployment.yaml")).at("/spec/template/spec/containers/0");
    }

    private static JsonNode one(Path file) {
        return documents(file).getFirst();
    }

    private static List<JsonNode> documents(Path file) {
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        List<JsonNode> trees = new ArrayList<>();
        for (Object document :
                new Yaml(new SafeConstructor(strict))
                        .loadAll(RepositoryFiles.text(file.toString()))) {
            trees.add(TREES.valueToTree(document));
        }
        return trees;
    }

    private static Stream<String> texts(JsonNode list) {
        return list.valueStream().map(JsonNode::asText);
    }
}
