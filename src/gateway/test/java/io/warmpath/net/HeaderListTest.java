package io.warmpath.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.vertx.core.MultiMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeaderListTest {
    private static final List<String> NAMES =
            List.of("Host", "host", "Accept", "x-a", "X-A", "x-ab", "Content-Length", "cookie");

    private static String line(Map.Entry<String, String> entry) {
        return entry.getKey().toLowerCase(Locale.ROOT) + ": " + entry.getValue();
    }

    /** Vert.x' own map does not keep the order of different names when one is replaced. */
    private static void same(MultiMap expected, MultiMap is, long seed) {
        for (String name : NAMES) {
            assertEquals(expected.get(name), is.get(name), () -> name + ", seed " + seed);
            assertEquals(expected.getAll(name), is.getAll(name), () -> name + ", seed " + seed);
            assertEquals(expected.contains(name), is.contains(name), () -> "seed " + seed);
            assertEquals(expected.contains(name, "V1", true), is.contains(name, "V1", true), name);
            assertEquals(
                    expected.contains(name, "v1", false), is.contains(name, "v1", false), name);
        }
        assertEquals(expected.size(), distinct(is).size(), () -> "seed " + seed);
        assertEquals(expected.isEmpty(), is.isEmpty());
        assertEquals(
                expected.entries().stream().map(HeaderListTest::line).sorted().toList(),
                is.entries().stream().map(HeaderListTest::line).sorted().toList(),
                () -> "seed " + seed);
        assertEquals(distinct(expected), distinct(is), () -> "seed " + seed);
    }

    private static Iterable<String> both(String value) {
        return List.of(value, "w");
    }

    private static Set<String> distinct(MultiMap map) {
        Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        names.addAll(map.names());
        return names;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void is_as_the_map_of_vertx(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 200; round++) {
            MultiMap expected = MultiMap.caseInsensitiveMultiMap();
            HeaderList list = new HeaderList();
            for (int step = 0; step < 40; step++) {
                String name = NAMES.get(random.nextInt(NAMES.size()));
                String value = "v" + random.nextInt(3);
                for (MultiMap to : List.of(expected, list)) {
                    switch ((int) ((seed * 31 + round * 7L + step * 13L) % 12)) {
                        case 0 -> to.remove(name);
                        case 1 -> to.set(name, value);
                        case 2 -> to.set((CharSequence) name, (CharSequence) value);
                        case 3 -> to.add(name, both(value));
                        case 4 -> to.set(name, both(value));
                        case 5 -> to.addAll(Map.of(name, value));
                        case 6 -> to.addAll(MultiMap.caseInsensitiveMultiMap().add(name, value));
                        case 7 -> to.remove((CharSequence) name);
                        default -> to.add(name, value);
                    }
                }
                same(expected, list, seed);
            }
        }
    }

    @Test
    void keeps_the_order_and_the_case() {
        HeaderList list = new HeaderList();
        for (int i = 0; i < 40; i++) {
            list.add("X-" + i, "v" + i);
        }
        for (int i = 0; i < 40; i++) {
            assertEquals("X-" + i, list.name(i));
            assertEquals("v" + i, list.value(i));
        }
        assertEquals(40, list.size());
    }

    @Test
    void is_empty_after_all_was_taken_out() {
        HeaderList list = new HeaderList().add("a", "1").add("A", "2").add("b", "3");
        list.remove("a");
        assertNull(list.get("A"));
        assertEquals(1, list.size());
        list.setAll(new HashMap<>(Map.of("c", "4")));
        assertEquals("4", list.get("C"));
        assertFalse(list.contains("b"));
        list.clear();
        assertEquals(0, list.size());
    }

    @Test
    void does_not_show_what_clients_keep_for_themselves() {
        assertFalse(
                new HeaderList()
                        .add("authorization", "Bearer secret")
                        .toString()
                        .contains("secret"));
    }
}
