package io.warmpath.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * No package's largest knot grows. Whoever makes one smaller lowers its figure here; a package
 * whose knot has come down to {@link #SMALL} leaves the table.
 */
class KnotsTest {
    private static final String FIXTURE = "io.warmpath.architecture.fixture.knots";

    /** Classes that may know each other anywhere. */
    private static final int SMALL = 6;

    /** Package, and how many classes its largest knot has where these are more. */
    private static final Map<String, Integer> LARGER = Map.of("io.warmpath.tokens.jinja", 22);

    @Test
    void no_knot_is_larger_than_its_package_may_have() {
        Map<String, Set<String>> knots = new Knots(Product.CLASSES).largest();
        assertEquals(new TreeMap<>(LARGER), larger(knots, SMALL), () -> list(knots, SMALL));
    }

    @Test
    void a_knot_is_found_also_through_nested_classes_and_only_within_a_package() {
        Map<String, Set<String>> knots =
                new Knots(new ClassFileImporter().importPackages(FIXTURE)).largest();
        String room = FIXTURE + ".wiring";
        assertEquals(Map.of(room, Set.of(room + ".Lamp", room + ".Plug", room + ".Switch")), knots);
        assertEquals(Map.of(room, 3), larger(knots, 2));
        assertEquals(Map.of(), larger(knots, 3));
    }

    private static Map<String, Integer> larger(Map<String, Set<String>> knots, int than) {
        Map<String, Integer> sizes = new TreeMap<>();
        knots.forEach(
                (room, knot) -> {
                    if (knot.size() > than) {
                        sizes.put(room, knot.size());
                    }
                });
        return sizes;
    }

    private static String list(Map<String, Set<String>> knots, int than) {
        StringBuilder text = new StringBuilder("the largest knots are now:\n");
        larger(knots, than)
                .forEach(
                        (room, size) ->
                                text.append(room + " " + size + ": ")
                                        .append(
                                                String.join(" ", knots.get(room))
                                                        .replace(room + ".", ""))
                                        .append('\n'));
        return text.toString();
    }
}
