package io.warmpath.wiring.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.adapter.kubernetes.KubernetesOptions;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.engine.KubernetesConfig;
import io.warmpath.gateway.request.Objectives;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KubernetesPartsTest {
    private static final Map<String, String> POD =
            Map.of("KUBERNETES_SERVICE_HOST", "10.96.0.1", "KUBERNETES_SERVICE_PORT", "443");

    @TempDir Path account;

    @BeforeEach
    void mount() throws IOException {
        Files.writeString(account.resolve("token"), "t");
        Files.writeString(account.resolve("ca.crt"), "c");
        Files.writeString(account.resolve("namespace"), "models\n");
    }

    private static KubernetesConfig config(Map<String, String> values) {
        return new SmallRyeConfigBuilder()
                .withSources(new PropertiesConfigSource(values, "test", 300))
                .withMapping(WarmpathConfig.class)
                .build()
                .getConfigMapping(WarmpathConfig.class)
                .kubernetes();
    }

    private String refused(Map<String, String> values, Map<String, String> environment) {
        return String.valueOf(
                assertThrows(
                                StartFailure.class,
                                () -> KubernetesParts.options(config(values), environment, account))
                        .getMessage());
    }

    @Test
    void it_is_off_unless_it_is_switched_on() {
        KubernetesParts parts = new KubernetesParts(config(Map.of()), new SimpleMeterRegistry());
        assertTrue(parts.source().isEmpty());
        assertSame(Objectives.NONE, parts.objectives());
        assertEquals("", parts.lacking());
    }

    @Test
    void the_name_of_a_pool_switches_it_on() {
        KubernetesParts parts =
                new KubernetesParts(
                        config(
                                Map.of(
                                        "warmpath.kubernetes.inference-pool", "llm",
                                        "warmpath.kubernetes.api-server", "http://127.0.0.1:8001",
                                        "warmpath.kubernetes.namespace", "n")),
                        new SimpleMeterRegistry());
        assertTrue(parts.source().isPresent());
        assertEquals("the InferencePool llm has not been looked up yet", parts.lacking());
        assertNotSame(Objectives.NONE, parts.objectives());
        assertNull(parts.objectives().priority("premium"));
        assertNull(KubernetesParts.options(config(Map.of()), POD, account).inferencePool());
    }

    @Test
    void a_pool_and_services_are_two_sources() {
        String both =
                refused(
                        Map.of(
                                "warmpath.kubernetes.inference-pool", "llm",
                                "warmpath.kubernetes.enabled", "true"),
                        Map.of());
        assertTrue(both.contains("inference-pool") && both.contains("enabled"), both);
        assertTrue(
                refused(Map.of("warmpath.kubernetes.inference-pool", "a/b"), POD)
                        .contains("`a/b`"));
    }

    @Test
    void a_pod_needs_no_settings() {
        KubernetesOptions options = KubernetesParts.options(config(Map.of()), POD, account);
        assertEquals(URI.create("https://10.96.0.1:443"), options.apiServer());
        assertEquals(account.resolve("token"), options.tokenFile());
        assertEquals(account.resolve("ca.crt"), options.caFile());
        assertEquals("models", options.namespace());
        assertEquals("app.kubernetes.io/component=engine", options.selector());
        assertEquals(Duration.ofMinutes(10), options.resync());
    }

    @Test
    void an_ipv6_cluster_is_one_too() {
        assertEquals(
                URI.create("https://[fd00::1]:443"),
                KubernetesParts.options(
                                config(Map.of()),
                                Map.of("KUBERNETES_SERVICE_HOST", "fd00::1"),
                                account)
                        .apiServer());
    }

    @Test
    void a_proxy_gets_neither_token_nor_certificates() {
        KubernetesOptions options =
                KubernetesParts.options(
                        config(
                                Map.of(
                                        "warmpath.kubernetes.api-server", "http://127.0.0.1:8001/",
                                        "warmpath.kubernetes.namespace", "other")),
                        Map.of(),
                        account);
        assertEquals(URI.create("http://127.0.0.1:8001"), options.apiServer());
        assertNull(options.tokenFile());
        assertNull(options.caFile());
        assertEquals("other", options.namespace());
    }

    @Test
    void what_is_missing_is_named() throws IOException {
        assertTrue(refused(Map.of(), Map.of()).contains("warmpath.kubernetes.api-server"));
        assertTrue(
                refused(Map.of("warmpath.kubernetes.api-server", "cluster"), POD)
                        .contains("`cluster`"));
        assertTrue(
                refused(Map.of("warmpath.kubernetes.namespace", "a/../b"), POD)
                        .contains("`a/../b`"));
        Files.delete(account.resolve("namespace"));
        assertTrue(refused(Map.of(), POD).contains("warmpath.kubernetes.namespace"));
        Files.delete(account.resolve("token"));
        String token = refused(Map.of(), POD);
        assertTrue(token.contains("automountServiceAccountToken"), token);
        assertFalse(token.contains("ca.crt"), token);
    }
}
