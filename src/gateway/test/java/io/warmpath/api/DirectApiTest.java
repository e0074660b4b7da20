package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.admission.BusyThresholds;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.load.WorkerLoad;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.modes.Routers;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The router asked over HTTP, with its real costs over a made-up index and load. */
@ExtendWith(Leaks.class)
class DirectApiTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final URI NOWHERE = URI.create("http://127.0.0.1:9");

    /** 40 tokens: two blocks and a half. */
    private static final String IDS =
            IntStream.range(0, 40)
                    .mapToObj(Integer::toString)
                    .collect(Collectors.joining(",", "[", "]"));

    private Gateway gateway;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
        gateway.tokens.ids = IntStream.range(0, 40).toArray();
        // w3, of two ranks, holds nothing: the index knows slots 0, 10 and 20.
        gateway.fleet.workers(
                List.of(worker(0, 1), worker(1, 1), worker(3, 2), draining(), other()));
        gateway.router.instead =
                Routers.create(
                        RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS),
                        gateway.books,
                        () -> new Random(7));
    }

    private static Worker worker(int id, int ranks) {
        return Gateway.worker(id, NOWHERE, EngineKind.VLLM, WorkerState.READY, ranks);
    }

    private static Worker draining() {
        return Gateway.worker(4, NOWHERE, EngineKind.VLLM, WorkerState.DRAINING, 1);
    }

    private static Worker other() {
        Worker w = worker(5, 1);
        return w.toBuilder().models(Set.of("other")).build();
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
    }

    private RawClient.Answer ask(String path, String json) throws Exception {
        return RawClient.post(gateway.port, "/router/" + path, json);
    }

    private RawClient.Answer act(String method, String path) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    method
                            + " /router/reservations"
                            + path
                            + " HTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\n\r\n");
            String head = client.readHead();
            return new RawClient.Answer(RawClient.status(head), head, List.of(), "", false);
        }
    }

    private JsonNode answer(String path, String json) throws Exception {
        RawClient.Answer answer = ask(path, json);
        assertEquals(200, answer.status(), answer.body());
        assertEquals("application/json", answer.header("content-type"));
        return JSON.readTree(answer.body());
    }

    private static String prompt(String more) {
        return "{\"model\":\"m\",\"token_ids\":" + IDS + more + "}";
    }

    @Test
    void the_best_worker_is_told_and_nothing_is_booked() throws Exception {
        JsonNode best = answer("best_worker", prompt(",\"worker_ids\":[1]"));
        assertEquals("1", best.get("worker_id").textValue());
        assertEquals("w1", best.get("worker").textValue());
        assertEquals(0, best.get("dp_rank").intValue());
        assertEquals(40, best.get("prompt_tokens").intValue());
        assertEquals(2, best.get("overlap_blocks").intValue());
        assertEquals(0, best.get("host_blocks").intValue());
        assertEquals(32, best.get("cached_tokens").intValue());
        assertEquals("kv", best.get("mode").textValue());
        // 40/16 - 2 blocks of prefill, 3 in decode
        assertEquals(3.5, best.get("cost").doubleValue(), 1e-9);
        assertEquals(0, gateway.books.booked.get());
        assertTrue(gateway.router.seen.isEmpty());
    }

    @Test
    void questions_are_not_counted_as_decisions_or_requests() throws Exception {
        answer("best_worker", prompt(""));
        assertEquals(0, gateway.counter("warmpath.decisions", "mode", "kv"));
        assertEquals(0, gateway.counter("warmpath.requests", "outcome", "rejected"));
    }

    @Test
    void a_worker_that_holds_the_prompt_wins_over_one_that_does_not() throws Exception {
        JsonNode best = answer("best_worker", prompt(",\"worker_ids\":[\"3\",\"1\"]"));
        assertEquals("w1", best.get("worker").textValue());
    }

    @Test
    void an_override_holds_for_the_question() throws Exception {
        String weightless = ",\"router_config_override\":{\"overlap_score_credit\":0}";
        JsonNode best = answer("best_worker", prompt(",\"worker_ids\":[1]" + weightless));
        assertEquals(5.5, best.get("cost").doubleValue(), 1e-9);
    }

    /** In milliseconds it costs 8 tokens of 32 us behind 32 cached ones, and a step of 7.5 ms. */
    @Test
    void a_weight_of_the_question_is_of_the_cost_in_blocks_whatever_the_gateway_compares()
            throws Exception {
        gateway.router.instead =
                Routers.create(RouterOptions.of(RouterMode.KV), gateway.books, () -> new Random(7));
        String one = ",\"worker_ids\":[1]";
        assertEquals(
                7.5 + 8 * (0.032 + 1.32e-6 * (32 + 4)),
                answer("best_worker", prompt(one)).get("cost").doubleValue(),
                1e-9);
        String credit = one + ",\"router_config_override\":{\"overlap_score_credit\":0.5}";
        assertEquals(4.5, answer("best_worker", prompt(credit)).get("cost").doubleValue(), 1e-9);
        JsonNode told = answer("explain", prompt(credit)).get("decision");
        assertEquals("blocks", told.get("cost_model").textValue());
        assertEquals(0.5, told.at("/weights/overlap_score_credit").doubleValue());
        assertEquals("latency", told.at("/other_cost/name").textValue());
        String warm = one + ",\"router_config_override\":{\"router_temperature\":1}";
        assertEquals(
                "latency", answer("explain", prompt(warm)).at("/decision/cost_model").textValue());
    }

    @Test
    void pins_hold_for_the_question() throws Exception {
        JsonNode best = answer("best_worker", prompt(",\"worker_id\":3,\"dp_rank\":1"));
        assertEquals("w3", best.get("worker").textValue());
        assertEquals(1, best.get("dp_rank").intValue());
        assertEquals("pinned by client", best.get("reason").textValue());
    }

    @Test
    void potential_loads_are_what_runs_and_what_would_come() throws Exception {
        gateway.books.added = new WorkerLoad(100, 7, 2);
        JsonNode loads = answer("potential_loads", prompt("")).get("loads");
        assertEquals(4, loads.size());
        JsonNode holds = loads.get(0);
        assertEquals("w0", holds.get("worker").textValue());
        assertEquals(108, holds.get("potential_prefill_tokens").intValue());
        assertEquals(10, holds.get("potential_decode_blocks").intValue());
        assertEquals(100, holds.get("active_prefill_tokens").intValue());
        assertEquals(7, holds.get("active_blocks").intValue());
        assertEquals(2, holds.get("active_requests").intValue());
        JsonNode rank = loads.get(3);
        assertEquals("w3", rank.get("worker").textValue());
        assertEquals(1, rank.get("dp_rank").intValue());
        assertEquals(140, rank.get("potential_prefill_tokens").intValue());
        assertEquals(0, gateway.books.booked.get());
    }

    @Test
    void overlap_scores_tell_every_rank_and_tier() throws Exception {
        JsonNode told = answer("overlap_scores", prompt(""));
        assertEquals(40, told.get("prompt_tokens").intValue());
        JsonNode first = told.get("scores").get(0);
        assertEquals(16, first.get("block_size").intValue());
        assertEquals(2, first.get("prompt_blocks").intValue());
        assertEquals(2, first.get("gpu_blocks").intValue());
        assertEquals(0, first.get("host_blocks").intValue()); // 3 of another prompt's, cut to 2
        assertEquals(32, first.get("cached_tokens").intValue());
        assertEquals(0, told.get("scores").get(2).get("gpu_blocks").intValue());
    }

    @Test
    void explain_tells_every_candidate_and_who_was_none_and_why() throws Exception {
        JsonNode told =
                answer("explain", prompt(",\"worker_ids\":[0,3],\"dp_rank\":0")).get("decision");
        assertEquals("w0", told.get("chosen").get("worker").textValue());
        JsonNode candidates = told.get("candidates");
        assertEquals(3, candidates.size());
        assertTrue(candidates.get(0).get("eligible").booleanValue());
        assertEquals(2, candidates.get(0).get("terms").get("gpu_blocks").intValue());
        assertFalse(candidates.get(2).get("eligible").booleanValue());
        assertEquals("not the pinned rank", candidates.get(2).get("reason").textValue());
        List<String> out =
                told.get("ineligible")
                        .valueStream()
                        .map(i -> i.get("worker").textValue() + " " + i.get("reason").textValue())
                        .toList();
        assertEquals(
                List.of("w1 not in worker_ids", "w4 draining", "w5 does not serve the model"), out);
        assertEquals(0, gateway.books.booked.get());
    }

    @Test
    void text_prompt_and_messages_are_tokenised() throws Exception {
        for (String input :
                List.of(
                        "\"text\":\"hi\"",
                        "\"prompt\":\"hi\"",
                        "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]")) {
            JsonNode best = answer("best_worker", "{\"model\":\"m\"," + input + "}");
            assertEquals(40, best.get("prompt_tokens").intValue(), input);
        }
        assertEquals(new PromptInput.Text("hi"), gateway.tokens.seen.get(0));
        assertTrue(gateway.tokens.seen.get(2) instanceof PromptInput.Chat);
    }

    @Test
    void the_salt_separates() throws Exception {
        answer("best_worker", prompt(",\"cache_salt\":\"s\""));
        assertEquals("s", gateway.index.queries.getLast().space().salt());
    }

    @Test
    void the_model_may_be_left_out_when_there_is_one() throws Exception {
        String unnamed = "{\"token_ids\":" + IDS + "}";
        RawClient.Answer refused = ask("best_worker", unnamed);
        assertEquals(400, refused.status());
        assertEquals("model", error(refused).get("param").textValue());
        gateway.fleet.workers(List.of(worker(0, 1)));
        assertEquals("m", answer("best_worker", unnamed).get("model").textValue());
    }

    @Test
    void without_tokens_load_decides_and_overlaps_are_refused() throws Exception {
        gateway.tokens.ids = null;
        String text = "{\"model\":\"m\",\"text\":\"hi\"}";
        JsonNode best = answer("best_worker", text);
        assertTrue(best.get("prompt_tokens").isNull());
        assertEquals(0, best.get("overlap_blocks").intValue());
        assertFalse(answer("explain", text).get("tokens_known").booleanValue());
        assertEquals(400, ask("overlap_scores", text).status());
        assertEquals(400, ask("potential_loads", text).status());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"model\":\"m\"}|token_ids",
                "{\"model\":\"m\",\"token_ids\":[]}|token_ids",
                "{\"model\":\"m\",\"token_ids\":[-1]}|token_ids",
                "{\"model\":\"m\",\"token_ids\":[1],\"text\":\"x\"}|text",
                "{\"model\":\"m\",\"token_ids\":[1],\"worker_ids\":[]}|worker_ids",
                "{\"model\":\"m\",\"token_ids\":[1],\"worker_ids\":[99]}|worker_ids",
                "{\"model\":\"m\",\"token_ids\":[1],\"worker_ids\":[true]}|worker_ids[0]",
                "{\"model\":\"m\",\"token_ids\":[1],\"worker_id\":99}|worker_id",
                "{\"model\":\"m\",\"token_ids\":[1],\"dp_rank\":9}|dp_rank",
                "{\"model\":\"m\",\"token_ids\":[1],\"dp_rank\":-1}|dp_rank",
                "{\"model\":\"m\",\"token_ids\":[1],\"tokenids\":1}|tokenids",
                "{\"model\":\"m\",\"token_ids\":[1],\"tokenids\":null}|tokenids",
                "{\"model\":\"m\",\"token_ids\":[1],\"ttl_seconds\":1}|ttl_seconds",
                "{\"model\":\"m\",\"token_ids\":[1],\"router_config_override\":{\"weight\":1}}"
                        + "|router_config_override.weight",
                "{\"model\":\"m\",\"token_ids\":[1],\"router_config_override\":{\"weight\":null}}"
                        + "|router_config_override.weight",
                "{\"model\":\"m\",\"token_ids\":[1],\"nvext\":1}|nvext",
                "{\"model\":\"m\",\"token_ids\":[1],\"nvext\":{\"dp_rank\":\"x\"}}|nvext.dp_rank",
                "{\"model\":1,\"token_ids\":[1]}|model",
            })
    void what_is_wrong_in_a_body_is_named(String body, String param) throws Exception {
        RawClient.Answer refused = ask("best_worker", body);
        assertEquals(400, refused.status(), refused.body());
        assertEquals(param, error(refused).get("param").textValue());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "[]", "{\"model\":\"m\",", "{\"model\":\"m\",\"worker_ids\":[", "{} x"})
    void what_is_not_json_is_a_bad_request(String body) throws Exception {
        RawClient.Answer refused = ask("best_worker", body);
        assertEquals(400, refused.status(), refused.body());
    }

    @Test
    void a_null_counts_as_left_out() throws Exception {
        answer(
                "best_worker",
                prompt(
                        ",\"worker_id\":null,\"dp_rank\":null,\"worker_ids\":null,\"text\":null,"
                                + "\"cache_salt\":null,\"router_config_override\":"
                                + "{\"router_temperature\":null}"));
    }

    @Test
    void an_unknown_model_is_not_found_and_other_methods_are_refused() throws Exception {
        assertEquals(404, ask("best_worker", "{\"model\":\"x\",\"token_ids\":[1]}").status());
        RawClient.Answer wrong = RawClient.request(gateway.port, "GET", "/router/best_worker");
        assertEquals(405, wrong.status());
        assertEquals("POST", wrong.header("allow"));
    }

    @Test
    void a_reservation_is_booked_until_it_is_released() throws Exception {
        RawClient.Answer made =
                ask("reservations", prompt(",\"worker_id\":1,\"reservation_id\":\"r1\""));
        assertEquals(201, made.status(), made.body());
        JsonNode told = JSON.readTree(made.body());
        assertEquals("r1", told.get("reservation_id").textValue());
        assertEquals(300, told.get("ttl_seconds").doubleValue());
        assertEquals("w1", told.get("worker").textValue());
        assertEquals(1, gateway.books.open());

        assertEquals(409, ask("reservations", prompt(",\"reservation_id\":\"r1\"")).status());
        assertEquals(1, gateway.books.open());

        assertEquals(204, act("POST", "/r1/prefill_complete").status());
        assertEquals(1, gateway.books.firstTokens.get());
        assertEquals(204, act("POST", "/r1/output_block").status());
        assertEquals(204, act("POST", "/r1/output_block").status());
        assertEquals(List.of(16, 32), gateway.books.progress);
        assertEquals(204, act("DELETE", "/r1").status());
        assertEquals(0, gateway.books.open());
        assertEquals(404, act("DELETE", "/r1").status());
        assertEquals(404, act("POST", "/r1/prefill_complete").status());
        assertEquals(404, act("POST", "/r1/output_block").status());
        assertEquals(0, gateway.books.closedTwice.get());
        assertEquals(List.of("w1 answers", "w1 ended -1"), gateway.router.seen);
    }

    @Test
    void a_reservation_without_an_id_gets_one() throws Exception {
        RawClient.Answer made = ask("reservations", prompt(""));
        String id = JSON.readTree(made.body()).get("reservation_id").textValue();
        assertEquals(made.header("x-request-id"), id);
        assertEquals(204, act("DELETE", "/" + id).status());
    }

    @Test
    void a_reservation_of_which_nothing_is_heard_expires() throws Exception {
        assertEquals(
                201,
                ask("reservations", prompt(",\"reservation_id\":\"r\",\"ttl_seconds\":0.05"))
                        .status());
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        assertEquals(404, act("DELETE", "/r").status());
        assertEquals(1, gateway.books.booked.get());
    }

    @Test
    void a_reservation_outlives_the_expiry_of_bookings_nobody_watches() throws Exception {
        gateway.books.expiry = Duration.ofMillis(40);
        assertEquals(201, ask("reservations", prompt(",\"reservation_id\":\"r\"")).status());
        // Its booking hears of it again and again; the answer has not grown.
        await().untilAsserted(() -> assertTrue(gateway.books.progress.size() >= 3));
        assertEquals(Set.of(0), Set.copyOf(gateway.books.progress));
        assertEquals(204, act("DELETE", "/r").status());
        int heard = gateway.books.progress.size();
        assertEquals(201, ask("reservations", prompt(",\"reservation_id\":\"r\"")).status());
        await().untilAsserted(() -> assertTrue(gateway.books.progress.size() > heard));
        assertEquals(204, act("DELETE", "/r").status());
    }

    @Test
    void nvext_says_in_a_body_of_this_api_what_it_says_in_a_request() throws Exception {
        JsonNode best =
                answer(
                        "best_worker",
                        prompt(
                                ",\"nvext\":{\"router_config_override\":{\"overlap_score_credit\":0},"
                                        + "\"backend_instance_id\":1,\"cache_salt\":\"s\",\"other\":1}"));
        assertEquals("w1", best.get("worker").textValue());
        assertEquals(5.5, best.get("cost").doubleValue(), 1e-9);
        assertEquals("s", gateway.index.queries.getLast().space().salt());
        // The body's own member is nearer.
        JsonNode own =
                answer(
                        "best_worker",
                        prompt(
                                ",\"worker_id\":0,\"router_config_override\":{},"
                                        + "\"nvext\":{\"backend_instance_id\":1,"
                                        + "\"router_config_override\":{\"overlap_score_credit\":0}}"));
        assertEquals("w0", own.get("worker").textValue());
        assertEquals(3.5, own.get("cost").doubleValue(), 1e-9);
    }

    @Test
    void taints_are_named_in_nvext_or_nearer() throws Exception {
        gateway.fleet.workers(
                List.of(
                        Gateway.tainted(0, NOWHERE, "spot:NoSchedule"),
                        Gateway.tainted(1, NOWHERE, "gpu=a"),
                        Gateway.tainted(2, NOWHERE, "gpu=b", "zone=z")));
        for (String where : List.of("%s", "\"nvext\":{%s}")) {
            String tolerate = "\"tolerations\":[\"spot\"],";
            String only = ",\"worker_ids\":[0],";
            RawClient.Answer refused = ask("best_worker", prompt(only.replaceAll(",$", "")));
            assertEquals(503, refused.status());
            assertTrue(refused.body().contains("taint spot:NoSchedule"), refused.body());
            assertEquals("w0", best(only + where.formatted(tolerate.replaceAll(",$", ""))), where);
            assertEquals("w2", best("," + where.formatted("\"required_taints\":[\"gpu=b\"]")));
            assertEquals("w2", best("," + where.formatted("\"preferred_taints\":{\"zone\":3}")));
            RawClient.Answer wrong =
                    ask("best_worker", prompt("," + where.formatted("\"tolerations\":3")));
            assertEquals(400, wrong.status());
            assertEquals(
                    where.startsWith("%s") ? "tolerations" : "nvext.tolerations",
                    error(wrong).get("param").textValue());
        }
        assertEquals(
                "w1",
                best(
                        ",\"required_taints\":[\"gpu=a\"],"
                                + "\"nvext\":{\"required_taints\":[\"gpu=b\"]}"),
                "the nearer one wins");
        RawClient.Answer made =
                ask(
                        "reservations",
                        prompt(",\"required_taints\":[\"gpu=b\"],\"reservation_id\":\"t\""));
        assertEquals(201, made.status(), made.body());
        assertEquals("w2", JSON.readTree(made.body()).get("worker").textValue());
        assertEquals(204, act("DELETE", "/t").status());
    }

    private String best(String more) throws Exception {
        return answer("best_worker", prompt(more)).get("worker").textValue();
    }

    @Test
    void what_is_known_of_each_workers_events_is_explained() throws Exception {
        gateway.events =
                c ->
                        c.worker().id() == 1
                                ? new EventTrust(EventView.REPAIRING, 0.5)
                                : EventTrust.believed(EventView.EXACT);
        JsonNode decision = answer("explain", prompt(",\"worker_id\":1")).get("decision");
        assertEquals(0, decision.get("queued_ms").doubleValue());
        assertEquals("repairing", decision.at("/chosen/events").textValue());
        assertEquals(0.5, decision.at("/chosen/events_credit").doubleValue());
        assertEquals("exact", decision.at("/candidates/0/events").textValue());
        assertTrue(decision.at("/candidates/0/events_credit").isMissingNode(), "all counts");
        assertEquals("repairing", decision.at("/candidates/1/events").textValue());
    }

    @Test
    void an_output_block_may_say_what_the_requests_own_blocks_count() throws Exception {
        assertEquals(201, ask("reservations", prompt(",\"reservation_id\":\"r\"")).status());
        String path = "reservations/r/output_block";
        assertEquals(204, ask(path, "{\"decay_fraction\":0.5}").status());
        assertEquals(204, ask(path, "{\"decay_fraction\":null}").status());
        assertEquals(204, ask(path, "").status());
        for (String wrong : List.of("{\"decay_fraction\":1.5}", "{\"decay_fraction\":\"a\"}")) {
            RawClient.Answer refused = ask(path, wrong);
            assertEquals(400, refused.status());
            assertEquals("decay_fraction", error(refused).get("param").textValue());
        }
        assertEquals("decay", error(ask(path, "{\"decay\":1}")).get("param").textValue());
        assertEquals(400, ask(path, "[]").status());
        assertEquals(400, ask(path, "{").status());
        assertEquals(404, ask("reservations/q/output_block", "{\"decay_fraction\":1}").status());
        assertEquals(List.of(16, 32, 48), gateway.books.progress);
        assertEquals(List.of(0.5), gateway.books.weights);
        assertEquals(204, act("DELETE", "/r").status());
    }

    @Test
    void nvext_may_bring_the_tokens() throws Exception {
        JsonNode best =
                answer(
                        "best_worker",
                        "{\"model\":\"m\",\"text\":\"hi\",\"nvext\":{\"token_data\":" + IDS + "}}");
        assertEquals(40, best.get("prompt_tokens").intValue());
        assertTrue(gateway.tokens.seen.getLast() instanceof PromptInput.Ids);
        RawClient.Answer twice = ask("best_worker", prompt(",\"nvext\":{\"token_data\":[1]}"));
        assertEquals(400, twice.status());
        assertEquals("nvext.token_data", error(twice).get("param").textValue());
    }

    @Test
    void a_busy_worker_or_rank_is_none_that_a_request_would_go_to() throws Exception {
        String reserved = prompt(",\"worker_id\":3,\"dp_rank\":0,\"reservation_id\":\"r\"");
        assertEquals(201, ask("reservations", reserved).status());
        assertEquals(
                201,
                ask("reservations", prompt(",\"worker_id\":1,\"reservation_id\":\"s\"")).status());
        gateway.admission.busy(
                "m",
                new BusyThresholds(
                        OptionalDouble.empty(), OptionalLong.of(5), OptionalDouble.empty()));
        List<String> out = new ArrayList<>();
        for (JsonNode i : answer("explain", prompt("")).get("decision").get("ineligible")) {
            out.add(i.get("worker").textValue() + " " + i.get("reason").textValue());
        }
        assertEquals(
                List.of("w1 busy", "w3/0 busy", "w4 draining", "w5 does not serve the model"), out);
        // How loaded each is, is told of all.
        assertEquals(4, answer("potential_loads", prompt("")).get("loads").size());
        assertEquals(204, act("DELETE", "/r").status());
        assertEquals(204, act("DELETE", "/s").status());
    }

    @Test
    void a_bad_reservation_books_nothing() throws Exception {
        assertEquals(400, ask("reservations", prompt(",\"reservation_id\":\"a b\"")).status());
        assertEquals(400, ask("reservations", prompt(",\"ttl_seconds\":3601")).status());
        assertEquals(400, ask("reservations", prompt(",\"worker_id\":77")).status());
        assertEquals(0, gateway.books.booked.get());
    }

    private static JsonNode error(RawClient.Answer answer) throws Exception {
        return JSON.readTree(answer.body()).get("error");
    }

    /** Engines write the same chat differently; the ids of one mean nothing to the other. */
    @Test
    void each_kind_of_worker_is_asked_about_with_its_own_tokens_when_they_differ()
            throws Exception {
        gateway.fleet.workers(
                List.of(
                        worker(0, 1),
                        Gateway.worker(2, NOWHERE, EngineKind.SGLANG, WorkerState.READY, 1)));
        int[] vllm = IntStream.range(100, 140).toArray();
        int[] sglang = IntStream.range(200, 248).toArray();
        gateway.tokens.idsOf.put(EngineProfile.VLLM, vllm);
        gateway.tokens.idsOf.put(EngineProfile.SGLANG, sglang);
        String chat = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}";
        JsonNode loads =
                JSON.readTree(RawClient.post(gateway.port, "/router/overlap_scores", chat).body());
        assertEquals(48, loads.get("prompt_tokens").intValue(), loads::toString);
        for (JsonNode score : loads.get("scores")) {
            assertEquals(2, score.get("gpu_blocks").intValue(), loads::toString);
        }
        assertEquals(
                Set.of(100, 200),
                gateway.index.queries.stream()
                        .map(query -> query.tokens()[0])
                        .collect(Collectors.toSet()));

        gateway.index.queries.clear();
        gateway.tokens.idsOf.put(EngineProfile.SGLANG, vllm.clone());
        RawClient.post(gateway.port, "/router/overlap_scores", chat);
        assertEquals(1, gateway.index.queries.size(), "one list when they agree");

        gateway.index.queries.clear();
        gateway.tokens.idsOf.put(EngineProfile.VLLM, new int[0]);
        RawClient.post(gateway.port, "/router/overlap_scores", chat);
        assertEquals(1, gateway.index.queries.size(), "nothing is asked where nothing is known");
    }

    @Test
    void a_worker_whose_queue_is_full_is_not_the_best() throws Exception {
        String best = best("");
        long id = Long.parseLong(best.substring(1));
        gateway.fleet.full(id, Duration.ofSeconds(1));
        assertNotEquals(best, best(""));
        assertEquals(best, best(",\"worker_ids\":[" + id + "]"));
    }
}
