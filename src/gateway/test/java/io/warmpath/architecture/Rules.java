package io.warmpath.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The rules, each as a function of the base package, so that the same rule runs over the product
 * and over its control in {@code architecture.fixture}.
 */
final class Rules {
    /** Nullness marks carry no behaviour and are welcome everywhere. */
    private static final String JSPECIFY = "org.jspecify.annotations..";

    private Rules() {}

    /** The layer table. */
    static ArchRule layers(String base) {
        return classes()
                .that(resideInAPackage(base + ".."))
                .should(
                        new ArchCondition<JavaClass>("use only the layers the table allows") {
                            @Override
                            public void check(JavaClass type, ConditionEvents events) {
                                Layers.layerOf(base, type.getPackageName())
                                        .ifPresent(layer -> checkLayer(layer, type, events));
                            }

                            private void checkLayer(
                                    String layer, JavaClass type, ConditionEvents events) {
                                if (!Layers.names().contains(layer)) {
                                    events.add(
                                            SimpleConditionEvent.violated(
                                                    type, layer + " is not in the layer table"));
                                }
                                for (Dependency d : type.getDirectDependenciesFromSelf()) {
                                    String target =
                                            d.getTargetClass()
                                                    .getBaseComponentType()
                                                    .getPackageName();
                                    Optional<String> to = Layers.layerOf(base, target);
                                    if (to.isPresent() && !Layers.allows(layer, to.get())) {
                                        events.add(
                                                SimpleConditionEvent.violated(
                                                        d,
                                                        layer
                                                                + " must not use "
                                                                + to.get()
                                                                + ": "
                                                                + d.getDescription()));
                                    }
                                }
                            }
                        });
    }

    /** The pure packages use the JDK and each other only. */
    static ArchRule pure(String base) {
        String[] allowed =
                Stream.concat(
                                Stream.of("java..", "javax.net.ssl..", JSPECIFY),
                                Layers.PURE.stream().map(name -> base + "." + name + ".."))
                        .toArray(String[]::new);
        return classes()
                .that(
                        resideInAnyPackage(
                                Layers.PURE.stream()
                                        .map(name -> base + "." + name + "..")
                                        .toArray(String[]::new)))
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(allowed).or(primitive()));
    }

    private static DescribedPredicate<JavaClass> primitive() {
        return DescribedPredicate.describe(
                "primitive", type -> type.getBaseComponentType().isPrimitive());
    }

    /** A technology stays behind its port: {@code library} is used in {@code packages} only. */
    static ArchRule technology(String base, String library, String... packages) {
        String[] allowed =
                Arrays.stream(packages)
                        .map(name -> base + "." + name + "..")
                        .toArray(String[]::new);
        return noClasses()
                .that(resideInAPackage(base + "..").and(not(resideInAnyPackage(allowed))))
                .should()
                .dependOnClassesThat(resideInAPackage(library));
    }

    /**
     * Only a composition root ({@code wiring}, {@code tools}) sees a port and its adapter, and
     * {@code capture}, which is a program of its own.
     */
    static ArchRule adapters(String base) {
        return noClasses()
                .that(
                        resideInAPackage(base + "..")
                                .and(
                                        not(
                                                resideInAnyPackage(
                                                        base + ".adapter..",
                                                        base + ".wiring..",
                                                        base + ".tools..",
                                                        base + ".capture.."))))
                .should()
                .dependOnClassesThat(resideInAPackage(base + ".adapter.."));
    }

    /** Packages below the base form no cycle. */
    static ArchRule cycles(String base) {
        return slices().matching(base + ".(*)..").should().beFreeOfCycles();
    }

    /**
     * The rooms of a package form no cycle: each package below it is one, and the classes that lie
     * in it itself are another.
     */
    static ArchRule rooms(String base, String packageName) {
        String whole = base + "." + packageName;
        return slices().assignedFrom(
                        new SliceAssignment() {
                            @Override
                            public SliceIdentifier getIdentifierOf(JavaClass type) {
                                String name = type.getPackageName();
                                if (name.equals(whole)) {
                                    return SliceIdentifier.of(packageName);
                                }
                                return name.startsWith(whole + ".")
                                        ? SliceIdentifier.of(name.substring(base.length() + 1))
                                        : SliceIdentifier.ignore();
                            }

                            @Override
                            public String getDescription() {
                                return "rooms of " + whole;
                            }
                        })
                .should()
                .beFreeOfCycles();
    }

    /** What a class needs comes through its constructor. */
    static ArchRule injection(String base) {
        return fields().that(
                        DescribedPredicate.<JavaField>describe(
                                "are ours", f -> f.getOwner().getPackageName().startsWith(base)))
                .should()
                .notBeAnnotatedWith("jakarta.inject.Inject")
                .andShould()
                .notBeAnnotatedWith("org.eclipse.microprofile.config.inject.ConfigProperty");
    }
}
