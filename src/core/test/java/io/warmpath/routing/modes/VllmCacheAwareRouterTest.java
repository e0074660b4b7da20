package io.warmpath.routing.modes;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class VllmCacheAwareRouterTest {
    private static final int B = 16;

    private final SplittableRandom random = new SplittableRandom(11);

    private static LoadTracker loads(int... requests) {
        LoadTracker loads = new LoadTracker();
        for (int slot = 0; slot < requests.length; slot++) {
            for (int i = 0; i < requests[slot]; i++) {
                loads.book(new WorkerSlot(slot), 0, 1);
            }
        }
        return loads;
    }

    private Router router(
            VllmCacheAwareOptions all, Map<String, VllmCacheAwareOptions> own, int... requests) {
        return Routers.create(
                RouterOptions.of(RouterMode.VLLM_CACHE_AWARE),
                all,
                own,
                loads(requests),
                () -> random,
                System::nanoTime,
                false);
    }

    private RoutingDecision decide(
            VllmCacheAwareOptions options, int[] requests, PrefixMatch... matches) {
        int blocks = matches.length == 0 ? 0 : matches[0].blocks();
        return router(options, Map.of(), requests)
                .decide(request(workers(requests.length, B), blocks * B + 1, matches));
    }

    private static String name(RoutingDecision d) {
        return d.chosen().candidate().worker().name();
    }

    @Test
    void takes_the_cache_exactly_where_the_recorded_thresholds_do() throws IOException {
        JsonNode cases = vectors().get("thresholds");
        assertEquals(20, cases.size());
        for (JsonNode c : cases) {
            int hits = c.get("hits").asInt();
            // w0 holds the prefix and is acceptably loaded, w1 is the least loaded.
            RoutingDecision d =
                    decide(
                            new VllmCacheAwareOptions((float) c.get("threshold").asDouble(), 1.25),
                            new int[] {2, 1, 9},
                            device(B, c.get("total").asInt(), hits));
            assertEquals(
                    c.get("use_cached").asBoolean() ? "w0" : "w1", name(d), c + ": " + d.reason());
        }
    }

    @Test
    void takes_the_cache_exactly_where_the_recorded_loads_allow() throws IOException {
        JsonNode cases = vectors().get("loads");
        assertEquals(12, cases.size());
        for (JsonNode c : cases) {
            int[] all =
                    IntStream.range(0, c.get("loads").size())
                            .map(i -> c.get("loads").get(i).asInt())
                            .toArray();
            assertEquals(c.get("load").asInt(), all[0]);
            RoutingDecision d =
                    decide(
                            new VllmCacheAwareOptions(0.3f, c.get("factor").asDouble()),
                            all,
                            device(B, 4, 4));
            assertEquals(
                    c.get("acceptable").asBoolean(),
                    d.reason().startsWith("cache hit: 4 of 4 blocks (1.00), above 0.30; load "),
                    c + ": " + d.reason());
        }
    }

    @Test
    void chooses_what_the_recorded_selections_allow() throws IOException {
        JsonNode cases = vectors().get("selects");
        assertEquals(8, cases.size());
        for (JsonNode c : cases) {
            List<Candidate> ready = new ArrayList<>();
            List<Candidate> all = workers(c.get("workers").size(), B);
            int[] requests = new int[all.size()];
            int[] depths = new int[all.size()];
            JsonNode prompt = c.get("request");
            for (int w = 0; w < all.size(); w++) {
                JsonNode worker = c.get("workers").get(w);
                requests[w] = worker.get("load").asInt();
                if (worker.get("healthy").asBoolean()) {
                    ready.add(all.get(w));
                }
                for (JsonNode record : c.get("records")) {
                    if (record.get("backend").equals(worker.get("url"))) {
                        depths[w] = Math.max(depths[w], shared(record.get("tokens"), prompt));
                    }
                }
            }
            RoutingDecision d =
                    router(VllmCacheAwareOptions.DEFAULT, Map.of(), requests)
                            .decide(
                                    request(
                                            ready,
                                            prompt.size(),
                                            device(B, prompt.size() / B, depths)));
            List<String> allowed = new ArrayList<>();
            c.at("/expect/any_of").forEach(u -> allowed.add(u.asText()));
            assertTrue(
                    allowed.contains("http://" + name(d) + ":8000"),
                    c.get("name") + ": " + name(d) + ", " + d.reason());
        }
    }

    private static int shared(JsonNode a, JsonNode b) {
        int n = 0;
        while (n < a.size() && n < b.size() && a.get(n).equals(b.get(n))) {
            n++;
        }
        return n / B;
    }

    @Test
    void the_reason_names_the_hit_or_why_there_was_none() {
        VllmCacheAwareOptions o = VllmCacheAwareOptions.DEFAULT;
        assertEquals(
                "cache hit: 4 of 5 blocks (0.80), above 0.30; load 2 is below 3.75",
                decide(o, new int[] {2, 4}, device(B, 5, 4, 1)).reason());
        assertEquals(
                "least loaded (1): the longest prefix, 1 of 5 blocks (0.20), is not above 0.30",
                decide(o, new int[] {2, 1}, device(B, 5, 1)).reason());
        assertEquals(
                "least loaded (1): the cache hit, 4 of 5 blocks (0.80) at w0, has load 3, not"
                        + " below 2.50",
                decide(o, new int[] {3, 1}, device(B, 5, 4)).reason());
        assertEquals(
                "least loaded (0): no block of the prompt is known",
                decide(o, new int[] {3, 0}).reason());
    }

    @Test
    void of_equal_prefixes_the_less_loaded_wins_and_of_equal_loads_the_longer_prefix() {
        VllmCacheAwareOptions o = VllmCacheAwareOptions.DEFAULT;
        for (int i = 0; i < 20; i++) {
            assertEquals("w1", name(decide(o, new int[] {3, 2, 9}, device(B, 4, 4, 4, 1))));
            // An idle fleet: no load is below the mean, and the cache is still followed.
            assertEquals("w2", name(decide(o, new int[] {0, 0, 0}, device(B, 4, 1, 0, 3))));
        }
    }

    @Test
    void what_is_equal_in_everything_is_drawn_by_lot() {
        int[] seen = new int[3];
        for (int i = 0; i < 900; i++) {
            RoutingDecision d = decide(VllmCacheAwareOptions.DEFAULT, new int[] {1, 1, 1});
            seen[(int) d.chosen().candidate().worker().id()]++;
        }
        assertTrue(Arrays.stream(seen).allMatch(n -> n > 230), Arrays.toString(seen));
    }

    @Test
    void models_may_have_settings_of_their_own() {
        Router router =
                router(
                        VllmCacheAwareOptions.DEFAULT,
                        Map.of("strict", new VllmCacheAwareOptions(0.9f, 1.25)),
                        2,
                        1,
                        9);
        RoutingRequest half = request(workers(3, B), 65, device(B, 4, 2));
        assertSame(router, router.forModel("other"));
        assertNotSame(router, router.forModel("strict"));
        assertEquals("w0", name(router.forModel("other").decide(half)));
        assertEquals("w1", name(router.forModel("strict").decide(half)));
    }

    @Test
    void settings_that_mean_nothing_are_refused() {
        assertThrows(
                IllegalArgumentException.class, () -> new VllmCacheAwareOptions(Float.NaN, 1.25));
        assertThrows(IllegalArgumentException.class, () -> new VllmCacheAwareOptions(1.1f, 1.25));
        assertThrows(IllegalArgumentException.class, () -> new VllmCacheAwareOptions(0.3f, 0.9));
    }

    private static JsonNode vectors() throws IOException {
        try (InputStream in =
                VllmCacheAwareRouterTest.class.getResourceAsStream(
                        "/vectors/vllm-block-tracker.json")) {
            return new ObjectMapper().readTree(in);
        }
    }
}
