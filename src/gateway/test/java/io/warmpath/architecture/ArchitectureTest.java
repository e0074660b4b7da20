package io.warmpath.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.EvaluationResult;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/**
 * The arrows of src/docs/explanation/architecture.md, kept. Every rule is run twice: over the
 * product, where it must be green, and over its fixture, where it must be red.
 */
class ArchitectureTest {
    private static final String BASE = "io.warmpath";
    private static final String FIXTURE = "io.warmpath.architecture.fixture.";

    /** Library, and the only packages that may use it. */
    private static final Map<String, String[]> TECHNOLOGIES =
            Map.of(
                    "com.sun.jna..", new String[] {"adapter.nativeindex"},
                    "org.zeromq..", new String[] {"sim"},
                    "io.nats..", new String[] {"adapter.nats"},
                    "ai.djl..", new String[] {"adapter.tokenizer", "sim"},
                    "io.micrometer..", new String[] {"telemetry", "wiring", "api", "gateway"},
                    "jakarta.enterprise..", new String[] {"wiring", "api"},
                    "io.quarkus..", new String[] {"wiring", "config", "api"});

    /** Packages with rooms of which none leads back to another one. */
    private static final List<String> WITH_ROOMS =
            List.of(
                    "api",
                    "config",
                    "fleet",
                    "gateway",
                    "net",
                    "routing",
                    "session",
                    "sim",
                    "tokens",
                    "upstream",
                    "wiring");

    @Test
    void our_classes_and_their_dependencies_are_seen() {
        assertTrue(
                Product.CLASSES.size() > 30,
                "only " + Product.CLASSES.size() + " classes were read");
        Set<String> used =
                Product.CLASSES
                        .get("io.warmpath.routing.RoutingDecision")
                        .getDirectDependenciesFromSelf()
                        .stream()
                        .map(Dependency::getTargetClass)
                        .map(JavaClass::getName)
                        .collect(Collectors.toSet());
        assertTrue(used.contains("io.warmpath.routing.Score"), "saw only " + used);
        assertTrue(
                Product.CLASSES.stream().noneMatch(c -> c.getName().startsWith(FIXTURE)),
                "test classes are mixed in");
    }

    @Test
    void packages_use_only_what_the_layer_table_allows() {
        check(Rules::layers, "layers", "prefix must not use routing");
    }

    @Test
    void a_package_outside_the_layer_table_is_refused() {
        assertRed("unknown", Rules::layers, "attic is not in the layer table");
    }

    @Test
    void the_product_does_not_use_the_simulator() {
        assertRed("simulator", Rules::layers, "gateway must not use sim");
        assertRed("dispatch", Rules::layers, "wiring must not use sim");
    }

    @Test
    void pure_packages_use_the_jdk_and_each_other_only() {
        check(Rules::pure, "pure", "org.jboss.logging.Logger");
    }

    @Test
    void only_a_composition_root_sees_a_port_and_its_adapter() {
        check(Rules::adapters, "adapters", "adapter.zmq.Socket");
    }

    @Test
    void packages_form_no_cycle() {
        check(Rules::cycles, "cycles", "Cycle detected");
    }

    @Test
    void rooms_of_a_package_form_no_cycle() {
        for (String several : WITH_ROOMS) {
            assertGreen(Rules.rooms(BASE, several), Product.CLASSES);
        }
        assertRed("rooms", base -> Rules.rooms(base, "api"), "Cycle detected");
    }

    @Test
    void nothing_is_injected_into_fields() {
        check(Rules::injection, "injection", "InjectsField.task");
    }

    @Test
    void a_technology_stays_in_its_packages() {
        TECHNOLOGIES.forEach(
                (library, packages) ->
                        assertGreen(Rules.technology(BASE, library, packages), Product.CLASSES));
        assertRed("jna", base -> technology(base, "com.sun.jna.."), "com.sun.jna.Pointer");
        assertRed("meters", base -> technology(base, "io.micrometer.."), "MeterRegistry");
    }

    @Test
    void every_package_is_null_marked() {
        Map<String, Boolean> marked = new TreeMap<>();
        for (JavaClass type : Product.CLASSES) {
            marked.merge(
                    type.getPackageName(),
                    type.getSimpleName().equals("package-info")
                            && type.isAnnotatedWith(NullMarked.class),
                    Boolean::logicalOr);
        }
        Set<String> bare = new TreeSet<>(marked.keySet());
        bare.removeIf(marked::get);
        assertEquals(Set.of(), bare, "packages without @NullMarked in package-info.java");
    }

    private static ArchRule technology(String base, String library) {
        String[] packages = TECHNOLOGIES.get(library);
        return Rules.technology(base, library, packages);
    }

    private static void check(Function<String, ArchRule> rule, String fixture, String finding) {
        assertGreen(rule.apply(BASE), Product.CLASSES);
        assertRed(fixture, rule, finding);
    }

    private static void assertGreen(ArchRule rule, JavaClasses classes) {
        EvaluationResult result = rule.allowEmptyShould(true).evaluate(classes);
        assertFalse(result.hasViolation(), () -> result.getFailureReport().toString());
    }

    private static void assertRed(String fixture, Function<String, ArchRule> rule, String finding) {
        String report = evaluate(rule, fixture).getFailureReport().toString();
        assertTrue(
                report.contains(finding),
                () -> "the control " + fixture + " was not caught: " + report);
    }

    private static EvaluationResult evaluate(Function<String, ArchRule> rule, String fixture) {
        JavaClasses classes = new ClassFileImporter().importPackages(FIXTURE + fixture);
        assertFalse(classes.isEmpty(), "no classes in fixture " + fixture);
        return rule.apply(FIXTURE + fixture).allowEmptyShould(true).evaluate(classes);
    }
}
