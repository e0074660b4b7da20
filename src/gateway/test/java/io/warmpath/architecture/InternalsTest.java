package io.warmpath.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.lang.invoke.MethodHandles;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Only {@code net} knows what Vert.x and Netty do not promise, and nobody looks into classes by
 * reflection but those who are named here with their reason.
 */
class InternalsTest {
    private static final String BASE = "io.warmpath";
    private static final String FIXTURE = "io.warmpath.architecture.fixture.internals";

    private static final String OWN_FIELD = "atomic access to a field of its own";

    /** Class, and why it may. */
    private static final Map<String, String> MAY =
            Map.of(
                    "io.warmpath.adapter.nativeindex.Scratch",
                    OWN_FIELD,
                    "io.warmpath.api.admin.PostedBodyReader",
                    "a reader of bodies gets the type in this form, and does not look",
                    "io.warmpath.load.OpenBooking",
                    OWN_FIELD,
                    "io.warmpath.load.SlotLoad",
                    OWN_FIELD,
                    "io.warmpath.start.Start",
                    "the class it starts is compiled for a newer Java than its own",
                    "io.warmpath.wiring.GracefulStop",
                    "the list of whom Quarkus waits for when it stops has no other way in");

    private static boolean isInternal(JavaClass type) {
        String name = type.getName();
        return name.matches("io\\.vertx\\..*\\.impl\\..*|io\\.netty\\.channel\\..*Unsafe.*")
                || name.startsWith("java.lang.reflect.")
                || name.equals("java.lang.invoke.MethodHandles$Lookup");
    }

    private static boolean looksInside(JavaMethodCall call) {
        String name = call.getName();
        return call.getTargetOwner().isEquivalentTo(Class.class)
                ? name.startsWith("getDeclared")
                : call.getTargetOwner().isEquivalentTo(MethodHandles.class)
                        && name.toLowerCase(Locale.ROOT).contains("lookup");
    }

    /** By class outside {@code net}, nested ones as the one they lie in: what it uses. */
    private static Map<String, Set<String>> uses(String base, JavaClasses classes) {
        Map<String, Set<String>> found = new TreeMap<>();
        DescribedPredicate<JavaClass> net = resideInAPackage(base + ".net..");
        for (JavaClass type : classes) {
            Set<String> used = new TreeSet<>();
            type.getDirectDependenciesFromSelf().stream()
                    .map(d -> d.getTargetClass().getBaseComponentType())
                    .filter(InternalsTest::isInternal)
                    .forEach(target -> used.add(target.getName()));
            type.getMethodCallsFromSelf().stream()
                    .filter(InternalsTest::looksInside)
                    .forEach(call -> used.add(call.getName()));
            if (!used.isEmpty() && !net.test(type)) {
                found.computeIfAbsent(
                                type.getName().replaceFirst("\\$.*", ""), k -> new TreeSet<>())
                        .addAll(used);
            }
        }
        return found;
    }

    @Test
    void only_net_and_those_with_a_reason_use_internals() {
        Map<String, Set<String>> found = uses(BASE, Product.CLASSES);
        assertEquals(new TreeSet<>(MAY.keySet()), found.keySet(), found::toString);
    }

    @Test
    void each_way_of_using_them_is_seen_outside_net_and_none_within() {
        assertEquals(
                Map.of(
                        FIXTURE + ".gateway.ReachesInside",
                        Set.of(
                                "getDeclaredFields",
                                "io.netty.channel.Channel$Unsafe",
                                "io.vertx.core.impl.ContextInternal",
                                "lookup")),
                uses(FIXTURE, new ClassFileImporter().importPackages(FIXTURE)));
    }

    /** Classes that read or write JSON with Vert.x' types, beside Jackson's. */
    private static Set<String> usersOfVertxJson(JavaClasses classes) {
        Set<String> users = new TreeSet<>();
        for (JavaClass type : classes) {
            if (type.getDirectDependenciesFromSelf().stream()
                    .anyMatch(
                            d ->
                                    d.getTargetClass()
                                            .getPackageName()
                                            .equals("io.vertx.core.json"))) {
                users.add(type.getName());
            }
        }
        return users;
    }

    @Test
    void json_has_one_tree_which_is_jacksons() {
        assertEquals(Set.of(), usersOfVertxJson(Product.CLASSES));
        assertEquals(
                Set.of(FIXTURE + ".gateway.SecondJson"),
                usersOfVertxJson(new ClassFileImporter().importPackages(FIXTURE)));
    }
}
