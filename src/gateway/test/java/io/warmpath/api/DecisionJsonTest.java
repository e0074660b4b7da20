package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.api.json.DecisionJson;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.WorkerState;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Circumstances;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Ineligible;
import io.warmpath.routing.Part;
import io.warmpath.routing.PromptKnown;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.RoutingRequest.Detail;
import io.warmpath.routing.TransferCost;
import io.warmpath.routing.modes.Routers;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What the explanation of a decision says. */
class DecisionJsonTest {
    private static final int B = 16;

    private final LoadTracker loads = new LoadTracker();

    private static List<Candidate> candidates() {
        List<Candidate> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            var w =
                    Gateway.worker(
                            i,
                            URI.create("http://secret:" + i),
                            EngineKind.VLLM,
                            WorkerState.READY,
                            1);
            all.add(new Candidate(w, 0, new WorkerSlot(i)));
        }
        return all;
    }

    private static RoutingRequest request(OptionalLong pin, RouterOverrides o, Detail detail) {
        PrefixMatch match =
                new PrefixMatch(B, 10, new int[] {0, 1}, new int[] {2, 4, 4, 4, 5, 5, 5, 5});
        return RoutingRequest.builder(candidates(), 10 * B, List.of(match))
                .pinnedWorker(pin)
                .overrides(o)
                .detail(detail)
                .ineligible(List.of(new Ineligible("w9", "draining")))
                .build();
    }

    private JsonNode json(RouterOptions options, RoutingRequest request) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        RoutingDecision d = Routers.create(options, loads, () -> random, () -> 0).decide(request);
        String text = DecisionJson.of(d, List.of());
        assertFalse(text.contains("secret"), "addresses stay inside: " + text);
        assertFalse(text.contains("\n"), text);
        return new ObjectMapper().readTree(text);
    }

    private static RouterOptions kv() {
        return RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS);
    }

    @Test
    void every_candidate_has_its_terms_and_they_add_up() throws IOException {
        loads.book(new WorkerSlot(1), 3 * B, 7);
        JsonNode j = json(kv(), request(OptionalLong.empty(), RouterOverrides.NONE, Detail.ALL));
        assertEquals("kv", j.get("mode").asText());
        assertEquals("blocks", j.get("cost_model").asText());
        assertEquals(160, j.get("prompt_tokens").asInt());
        assertEquals("lowest_cost", j.at("/choice/rule").asText());
        assertEquals(3, j.at("/choice/of").asInt());
        assertEquals("w0", j.at("/chosen/worker").asText());
        assertEquals(16.5, j.at("/chosen/cost").asDouble());
        assertEquals(2, j.at("/chosen/gpu_blocks").asInt());
        assertEquals(2, j.at("/chosen/host_blocks").asInt(), "beyond the device's");
        assertEquals(0, j.at("/chosen/disk_blocks").asInt());
        assertEquals(10, j.at("/chosen/booked_blocks").asInt());
        assertEquals(3, j.get("candidates").size());
        for (JsonNode c : j.get("candidates")) {
            JsonNode t = c.get("terms");
            assertTrue(c.get("eligible").asBoolean());
            assertEquals(
                    t.get("cost").asDouble(),
                    t.get("prefill_blocks").asDouble()
                            + t.get("decode_blocks").asDouble()
                            + t.get("request_cost").asDouble());
            assertEquals(t.get("cost"), c.get("cost"));
        }
        JsonNode busy = j.at("/candidates/1/terms");
        assertEquals(5, busy.get("gpu_blocks").asInt());
        assertEquals(0, busy.get("host_blocks").asInt());
        assertEquals(3 * B, busy.get("active_prefill_tokens").asInt());
        assertEquals(7, busy.get("active_blocks").asInt());
        assertEquals(1, busy.get("active_requests").asInt());
        assertEquals(13, busy.get("raw_prefill_blocks").asInt());
        assertEquals("w9", j.at("/ineligible/0/worker").asText());
        assertEquals("draining", j.at("/ineligible/0/reason").asText());
        assertEquals(0.75, j.at("/weights/host_cache_hit_weight").asDouble());
    }

    @Test
    void pins_and_overrides_are_told_and_the_pinned_out_say_why() throws IOException {
        RouterOverrides o = new RouterOverrides(2.0, null, null, null, 0.5, null, false);
        JsonNode j = json(kv(), request(OptionalLong.of(2), o, Detail.ALL));
        assertEquals("pinned by client", j.get("reason").asText());
        assertEquals("2", j.at("/pins/worker_id").asText());
        assertEquals(2.0, j.at("/overrides/overlap_score_credit").asDouble());
        assertEquals(3, j.get("overrides").size());
        assertEquals(0.5, j.get("temperature").asDouble());
        assertFalse(j.at("/weights/track_prefill_tokens").asBoolean());
        assertFalse(j.at("/candidates/0/eligible").asBoolean());
        assertEquals("not the pinned worker", j.at("/candidates/0/reason").asText());
        assertTrue(j.at("/candidates/2/eligible").asBoolean());
        assertEquals(j.at("/chosen/cost").asDouble(), j.at("/candidates/2/terms/cost").asDouble());
    }

    @Test
    void what_was_drawn_is_told() throws IOException {
        RoutingRequest r = request(OptionalLong.empty(), RouterOverrides.NONE, Detail.ALL);
        JsonNode sampled = json(kv().withTemperature(1), r);
        assertEquals("sampled", sampled.at("/choice/rule").asText());
        assertTrue(sampled.at("/choice/drawn").asDouble() > 0);
        JsonNode random = json(RouterOptions.of(RouterMode.RANDOM), r);
        assertEquals("random", random.at("/choice/rule").asText());
        assertEquals("blocks", random.get("cost_model").asText(), "what is shown, not compared");
        assertFalse(random.has("other_cost"));
        assertEquals(3, random.get("candidates").size());
        assertTrue(random.at("/candidates/0/terms").has("cost"));
        assertFalse(json(kv(), r).at("/choice").has("drawn"));
    }

    /** w1 has 9 of 10 blocks cached; 3 to prefill and 7 in decode are booked: 13 - 9 + 17. */
    @Test
    void both_costs_are_told_and_whom_the_other_one_would_have_taken() throws IOException {
        loads.book(new WorkerSlot(1), 3 * B, 7);
        PrefixMatch match =
                new PrefixMatch(B, 10, new int[] {0, 1}, new int[] {1, 1, 1, 1, 9, 9, 9, 9});
        RoutingRequest r =
                RoutingRequest.builder(candidates(), 10 * B, List.of(match))
                        .detail(Detail.DRY_RUN)
                        .build();
        JsonNode j = json(kv().with(CostKind.LATENCY), r);
        assertEquals("w1", j.at("/chosen/worker").asText());
        JsonNode other = j.get("other_cost");
        assertEquals("blocks", other.get("name").asText());
        assertFalse(other.get("agrees").asBoolean());
        assertEquals("w0", other.get("worker").asText());
        assertEquals("0", other.get("worker_id").asText());
        assertEquals(0, other.get("dp_rank").asInt());
        assertEquals(19, other.get("cost").asDouble());
        assertEquals(1, other.get("ties").asInt());
        assertTrue(j.get("reason").asText().endsWith(" of 3; blocks would have taken w0"));
        assertEquals(19, j.at("/candidates/0/costs/blocks").asDouble());
        assertEquals(21, j.at("/candidates/1/costs/blocks").asDouble());
        for (JsonNode c : j.get("candidates")) {
            assertEquals(2, c.get("costs").size());
            assertEquals(c.get("cost"), c.at("/costs/latency"));
        }
        JsonNode pinned =
                json(
                        kv().with(CostKind.LATENCY),
                        request(OptionalLong.of(2), RouterOverrides.NONE, Detail.ALL));
        assertTrue(pinned.at("/other_cost/agrees").asBoolean(), "there is nobody else");
        assertFalse(pinned.at("/candidates/0").has("costs"));
        JsonNode alone = json(kv(), r);
        assertFalse(alone.has("other_cost"), "no speeds are kept");
        assertFalse(alone.at("/candidates/0").has("costs"));
    }

    @Test
    void the_latency_cost_tells_its_own_terms() throws IOException {
        JsonNode j =
                json(
                        kv().with(CostKind.LATENCY),
                        request(OptionalLong.empty(), RouterOverrides.NONE, Detail.ALL));
        assertEquals("latency", j.get("cost_model").asText());
        assertTrue(j.at("/candidates/0/terms").has("work_price"));
        assertFalse(j.has("weights"));
    }

    @Test
    void who_decodes_is_told_with_the_link_that_the_cache_comes_by() throws IOException {
        RoutingRequest r = request(OptionalLong.empty(), RouterOverrides.NONE, Detail.ALL);
        TransferCost transfer = TransferCost.of(2, 131072, 25, 0.1);
        JsonNode j =
                json(
                        RouterOptions.of(RouterMode.KV),
                        r.toBuilder().part(Part.DECODE).transfer(transfer).build());
        JsonNode link = j.at("/chosen/transfer");
        assertEquals("fleet", link.path("within").asText(), j.toString());
        assertEquals(25, link.path("gbit_per_second").asDouble());
        assertEquals(131072, link.path("kv_bytes_per_token").asDouble());
        double moved = 10 * B - j.at("/chosen/cached_tokens").asInt();
        double millis = j.at("/candidates/1/terms/transfer_ms").asDouble();
        assertEquals(131072 * 8 / 25e6 * moved, millis, 1e-9);
        assertFalse(json(kv(), r).at("/chosen").has("transfer"));
    }

    @Test
    void the_wait_and_the_trust_in_each_workers_events_are_told() throws IOException {
        RoutingRequest r = request(OptionalLong.of(2), RouterOverrides.NONE, Detail.ALL);
        JsonNode j =
                json(
                        kv(),
                        r.with(
                                new Circumstances(
                                        2_500_000,
                                        List.of(
                                                EventTrust.believed(EventView.EXACT),
                                                EventTrust.NONE,
                                                new EventTrust(EventView.FROZEN, 0)))));
        assertEquals(2.5, j.get("queued_ms").asDouble());
        assertEquals("exact", j.at("/candidates/0/events").asText());
        assertEquals("none", j.at("/candidates/1/events").asText());
        assertEquals("frozen", j.at("/chosen/events").asText());
        JsonNode unasked = json(kv(), r);
        assertEquals(0, unasked.get("queued_ms").asDouble());
        assertFalse(unasked.at("/chosen").has("events"));
        assertFalse(unasked.at("/candidates/0").has("events"));
    }

    @Test
    void what_is_known_by_its_text_has_no_length_in_tokens() throws IOException {
        RoutingRequest r = request(OptionalLong.empty(), RouterOverrides.NONE, Detail.ALL);
        JsonNode known = json(kv(), r);
        assertTrue(known.get("prompt_tokens").asInt() > 0);
        assertFalse(known.has("tokens"));
        JsonNode text =
                json(kv(), r.with(new Circumstances(0, List.of(), Set.of(), PromptKnown.TEXT)));
        assertEquals(0, text.get("prompt_tokens").asInt());
        assertEquals("text prefix", text.get("tokens").asText());
    }

    @Test
    void an_unexplained_decision_tells_costs_alone() throws IOException {
        JsonNode j = json(kv(), request(OptionalLong.empty(), RouterOverrides.NONE, Detail.CHOSEN));
        assertTrue(j.at("/candidates/0").has("cost"));
        assertFalse(j.at("/candidates/0").has("terms"));
    }
}
