package io.warmpath.adapter.kubernetes;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The source before an API server that has the faults of a real one. */
@Tag("slow")
class KubernetesSourceTest extends KubernetesSourceContract {
    @TempDir Path folder;
    private Path token;
    private FakeApiServer api;

    @Override
    Cluster open() {
        token = folder.resolve("token");
        write("first\n");
        api = new FakeApiServer(token);
        return api;
    }

    private void write(String text) {
        try {
            Files.writeString(token, text);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void startWithOne() {
        pod("sglang-0");
        put(Objects.serving(slice(), "10.0.0.1", "sglang-0"));
        start();
        states(Map.of("sglang-0", "serves"));
    }

    private void second() {
        pod("sglang-1");
        put(
                Objects.serving(
                        Objects.serving(slice(), "10.0.0.1", "sglang-0"), "10.0.0.2", "sglang-1"));
    }

    @Test
    void a_cut_watch_goes_on_where_it_was() {
        startWithOne();
        long lists = source.lists();
        api.cut();
        second();
        states(Map.of("sglang-0", "serves", "sglang-1", "serves"));
        assertEquals(lists, source.lists());
        assertEquals(0, source.failures());
    }

    @Test
    void a_version_that_is_forgotten_leads_to_a_new_list() {
        startWithOne();
        long lists = source.lists();
        second();
        cluster.remove(Cluster.PODS, "sglang-0");
        put(Objects.serving(slice(), "10.0.0.2", "sglang-1"));
        api.compact();
        api.cut();
        states(Map.of("sglang-1", "serves"));
        await().untilAsserted(() -> assertTrue(source.lists() > lists));
    }

    @Test
    void an_error_inside_a_watch_leads_to_a_new_list() {
        startWithOne();
        long lists = source.lists();
        api.say("{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"too old\"}}\n");
        await().untilAsserted(() -> assertTrue(source.lists() > lists));
        second();
        states(Map.of("sglang-0", "serves", "sglang-1", "serves"));
        assertEquals(0, source.failures());
    }

    @Test
    void garbage_in_a_watch_costs_a_list_and_no_worker() {
        startWithOne();
        api.say("<html>a proxy's idea of an error</html>\n");
        await().untilAsserted(() -> assertTrue(source.failures() > 0));
        second();
        states(Map.of("sglang-0", "serves", "sglang-1", "serves"));
    }

    @Test
    void a_watch_that_died_without_a_word_is_begun_anew() {
        startWithOne();
        api.fallSilent();
        second();
        // QUICK ends a watch after three seconds.
        states(Map.of("sglang-0", "serves", "sglang-1", "serves"));
    }

    @Test
    void a_server_that_ends_each_watch_at_once_is_not_asked_in_a_loop() {
        startWithOne();
        api.endWatchesAtOnce();
        int before = api.asked().size();
        long began = System.nanoTime();
        await().until(() -> api.asked().size() >= before + 20);
        long took = (System.nanoTime() - began) / 1_000_000;
        // Two watches, at least ten milliseconds between two questions of one.
        assertTrue(took >= 80, "20 questions in " + took + " ms");
    }

    @Test
    void while_the_server_refuses_what_is_known_stays() {
        startWithOne();
        api.refuse(403, 6);
        api.cut();
        await().untilAsserted(() -> assertTrue(source.failures() >= 3));
        assertEquals(Map.of("sglang-0", "serves"), told.states());
        second();
        states(Map.of("sglang-0", "serves", "sglang-1", "serves"));
        await().untilAsserted(() -> assertTrue(source.connected()));
    }

    @Test
    void a_token_that_was_renewed_is_used() {
        startWithOne();
        write("second\n");
        api.cut();
        await().untilAsserted(() -> assertEquals("Bearer second", api.authorizations().getLast()));
        assertEquals("Bearer first", api.authorizations().getFirst());
    }

    @Test
    void all_pages_of_a_list_are_read() {
        for (int i = 0; i < 5; i++) {
            pod("sglang-" + i);
            put(
                    Objects.serving(
                            Objects.slice("engines-" + i, "IPv4", PORTS),
                            "10.0.0." + (i + 1),
                            "sglang-" + i));
        }
        start();
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertEquals(5, told.states().size()));
        assertTrue(api.asked().stream().anyMatch(q -> q.contains("continue=4")));
    }

    @Test
    void it_asks_for_what_the_selectors_say_and_nothing_else() {
        startWithOne();
        for (String asked : api.asked()) {
            assertTrue(
                    asked.startsWith(Cluster.PODS + "?") || asked.startsWith(Cluster.SLICES + "?"),
                    asked);
            assertTrue(
                    asked.contains("labelSelector=app.kubernetes.io%2Fcomponent%3Dengine"), asked);
        }
    }
}
