package io.warmpath.wiring.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.admission.AdmissionOptions;
import io.warmpath.admission.PolicyClass;
import io.warmpath.wiring.TestConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdmissionSetupTest {
    @TempDir private Path folder;

    private static AdmissionOptions options(Map<String, String> properties) {
        return AdmissionSetup.options(TestConfig.of(properties));
    }

    @Test
    void without_any_setting_there_is_no_queue_and_no_threshold() {
        assertEquals(AdmissionOptions.OFF, options(Map.of()));
    }

    @Test
    void the_settings_make_one_class() {
        AdmissionOptions o =
                options(
                        Map.of(
                                "warmpath.admission.queue-threshold", "0.5",
                                "warmpath.admission.queue-policy", "wspt",
                                "warmpath.http.overload-status", "503",
                                "warmpath.admission.active-prefill-tokens-threshold", "7"));
        assertNotNull(o.policies());
        assertEquals(0.5, o.policies().classes().getFirst().threshold().value());
        assertEquals(503, o.overloadStatus());
        assertEquals(7, o.busy().prefillTokens().orElseThrow());
    }

    @Test
    void where_clients_are_told_apart_they_take_turns() {
        for (Map<String, String> known :
                List.of(
                        Map.of("warmpath.auth.keys", "a:" + "0".repeat(64)),
                        Map.of("warmpath.auth.key-file", "keys.yaml"),
                        Map.of("warmpath.auth.jwt.jwks", "keys.json"))) {
            AdmissionOptions o = options(known);
            assertNotNull(o.policies(), known::toString);
            PolicyClass one = o.policies().classes().getFirst();
            assertEquals(new PolicyClass.Threshold(0.25, true), one.threshold());
            assertEquals(64, one.requestLimit());
            Map<String, String> off = new HashMap<>(known);
            off.put("warmpath.admission.queue-threshold", "1000000");
            assertNull(options(off).policies());
        }
        assertEquals(
                PolicyClass.NO_LIMIT,
                Objects.requireNonNull(
                                options(
                                                Map.of(
                                                        "warmpath.admission.queue-threshold", "1",
                                                        "warmpath.admission.queue-limit-per-worker",
                                                                "0"))
                                        .policies())
                        .classes()
                        .getFirst()
                        .requestLimit());
    }

    /** The example of the documentation is the one that is read here. */
    @Test
    void the_documented_file_is_read() throws Exception {
        String page = Files.readString(Path.of("src/docs/how-to/admission.md"));
        int from = page.indexOf("```yaml\n") + 8;
        Path file =
                Files.writeString(
                        folder.resolve("p.yaml"), page.substring(from, page.indexOf("```", from)));
        AdmissionOptions o = options(Map.of("warmpath.admission.policy-config", file.toString()));
        assertNotNull(o.policies());
        assertEquals(3, o.policies().classes().size());
        assertEquals(1, o.perModel().get("small-model").classes().size());
        assertNull(options(Map.of()).policies());
    }

    @Test
    void what_is_wrong_stops_the_start_and_is_named() throws Exception {
        Path file = Files.writeString(folder.resolve("p.yaml"), "policy_clases: []");
        refused("policy_clases", Map.of("warmpath.admission.policy-config", file.toString()));
        Files.writeString(file, "policy_classes: [");
        refused(file.toString(), Map.of("warmpath.admission.policy-config", file.toString()));
        refused("cannot be read", Map.of("warmpath.admission.policy-config", "/no/such/file"));
        refused(
                "give one",
                Map.of(
                        "warmpath.admission.policy-config",
                        file.toString(),
                        "warmpath.admission.queue-threshold",
                        "1"));
        refused("529 or 503", Map.of("warmpath.http.overload-status", "510"));
    }

    private static void refused(String part, Map<String, String> properties) {
        StartFailure e = assertThrows(StartFailure.class, () -> options(properties));
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }
}
