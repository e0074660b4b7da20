package io.warmpath.routing;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.tiers;
import static io.warmpath.routing.Fleets.weighing;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.routing.rates.Sent;
import io.warmpath.routing.rates.WorkerRates;
import io.warmpath.routing.rates.WorkerRates.Shows;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The cost in milliseconds: each term, and what whole decisions do with it. */
class LatencyCostTest {
    private static final int B = 16;
    private static final LatencyPriors P = LatencyPriors.DEFAULT;

    /** Only prefill and what waits for it. */
    private static final LatencyPriors PREFILL_ONLY =
            new LatencyPriors(0, 0, 0, 0.032, 1.32e-6, 150_000, 75_000, 0, 256);

    private final LoadTracker loads = new LoadTracker();
    private long now = 1_000_000_000_000L;

    private Router router(LatencyPriors priors) {
        SplittableRandom random = new SplittableRandom(5);
        RouterOptions options = RouterOptions.of(RouterMode.KV).with(CostKind.LATENCY, priors);
        return Routers.create(options, loads, () -> random, () -> now);
    }

    private void pass(double millis) {
        now += (long) (millis * 1e6);
    }

    private static double term(RoutingDecision d, int candidate, String name) {
        Scores all = d.compared();
        return all.terms(candidate).get(all.names().indexOf(name));
    }

    private static WorkerRates.Work work(int tokens) {
        return new WorkerRates.Work(tokens, tokens, 50, 0, 8, 0, 0, 256, 1, 1);
    }

    private static int slot(RoutingDecision d) {
        return d.chosen().candidate().slot().index();
    }

    /** A request of this many tokens goes to worker 0 of two. */
    private Sent occupy(Router router, int tokens) {
        RoutingRequest r =
                Fleets.pin(request(workers(2, B), tokens), OptionalLong.of(0), OptionalInt.empty());
        return router.sent(router.decide(r), true);
    }

    /**
     * Prompts may be computed where others' answers are decoded; what was computed elsewhere queues
     * behind.
     */
    @Test
    void each_part_pays_what_it_takes_and_the_queue_where_it_goes() {
        Router router = router(P);
        occupy(router, 4000);
        double wait = term(router.decide(request(workers(2, B), 3000)), 0, "wait_ms");
        assertTrue(wait > 100, "4,000 tokens: " + wait);
        for (Part part : Part.values()) {
            RoutingDecision d =
                    router.decide(request(workers(2, B), 3000).toBuilder().part(part).build());
            double prefill = part == Part.DECODE ? 0 : P.prefillMillis(3000, 0);
            double others = part == Part.PREFILL ? 0 : 1;
            assertEquals(prefill, term(d, 1, "prefill_ms"), 1e-9, part::toString);
            assertEquals(wait, term(d, 0, "wait_ms"), 1e-9, part::toString);
            assertEquals(0, term(d, 1, "wait_ms"), part::toString);
            assertEquals(others, Math.signum(term(d, 0, "others_decode_ms")), part::toString);
            assertEquals(1, slot(d), part::toString);
        }
    }

    /** 0.01 ms for each token that is not held where the answer is written. */
    @Test
    void who_decodes_pays_for_the_transfer_of_what_it_does_not_hold() {
        RoutingRequest r =
                request(workers(2, B), 160 * B, device(B, 160, 100)).toBuilder()
                        .transfer(TransferCost.of(2, 1250, 1, 0))
                        .build();
        RoutingDecision d = router(P).decide(r.toBuilder().part(Part.DECODE).build());
        assertEquals(0.01 * 60 * B, term(d, 0, "transfer_ms"), 1e-9);
        assertEquals(0.01 * 160 * B, term(d, 1, "transfer_ms"), 1e-9);
        assertEquals(0.01 * 100 * B, d.scores().get(1).cost() - d.scores().get(0).cost(), 1e-9);
        assertEquals(0, slot(d));
        RoutingDecision prefill = router(P).decide(r.toBuilder().part(Part.PREFILL).build());
        assertEquals(0, term(prefill, 1, "transfer_ms"));
    }

    /** Queue 40 ms and 1,000 tokens against 3,000 tokens: 105 and 204 at half load. */
    @Test
    void the_worked_check_of_the_formula_gives_its_numbers() {
        double a = P.prefillMillis(1000, 0);
        double b = P.prefillMillis(3000, 0);
        assertEquals(32.66, a, 0.005);
        assertEquals(101.94, b, 0.005);
        assertEquals(1, P.price(0, 0));
        assertEquals(2, P.price(0.5, 0), 1e-12);
        assertEquals(4, P.price(0.75, 0), 1e-12);
        assertEquals(3, P.price(0.5, 0.5), 1e-12, "and half of what is computed was evicted");
        assertEquals(0.85, LatencyPriors.bounded(3));
        assertEquals(105, 40 + P.price(0.5, 0) * a, 0.5);
        assertEquals(204, P.price(0.5, 0) * b, 0.5);
        assertEquals(331, 200 + P.price(0.75, 0) * a, 0.5);
        assertEquals(408, P.price(0.75, 0) * b, 0.5);
    }

    @Test
    void an_idle_fleet_costs_prefill_and_a_step() {
        RoutingDecision d = router(P).decide(request(workers(2, B), 3000));
        assertEquals(P.prefillMillis(3000, 0), term(d, 0, "prefill_ms"), 1e-9);
        assertEquals(7.5, term(d, 0, "step_ms"), 1e-9);
        assertEquals(1, term(d, 0, "work_price"), 1e-9);
        assertEquals(d.scores().get(0).cost(), term(d, 0, "prefill_ms") + 7.5, 1e-9);
        assertEquals(0, term(d, 0, "own_decode_ms"), 1e-9);
    }

    /** One of 128 tokens on average: a step is longer by it, and its own answer by this prompt. */
    @Test
    void what_an_engine_runs_for_others_counts_by_its_number() {
        loads.outside(new WorkerSlot(0), 1, 8);
        RoutingDecision d = router(P).decide(request(workers(2, B), 3000));
        double lengthened = 0.02 + 128 * 52e-6;
        assertEquals(7.5 + lengthened, term(d, 0, "step_ms"), 1e-9);
        assertEquals(0.15 * 256 * lengthened, term(d, 0, "own_decode_ms"), 1e-9);
        assertEquals(0.15 * 256 * (0.02 + 3128 * 52e-6), term(d, 0, "others_decode_ms"), 1e-9);
        assertEquals(7.5, term(d, 1, "step_ms"));
        assertEquals(1, slot(d));
    }

    @Test
    void a_weight_divides_the_whole_cost() {
        RoutingDecision d = router(P).decide(request(weighing(B, 1, 2, 0.5), 3000));
        double one = P.prefillMillis(3000, 0) + 7.5;
        assertEquals(one, d.scores().get(0).cost(), 1e-9);
        assertEquals(one / 2, d.scores().get(1).cost(), 1e-9);
        assertEquals(one * 2, d.scores().get(2).cost(), 1e-9);
        assertEquals(1, slot(d));
        assertEquals(term(d, 0, "prefill_ms"), term(d, 1, "prefill_ms"), "the terms are bare");
    }

    /** What is decided is the same for all weights that are equal. */
    @Test
    void equal_weights_change_no_choice() {
        Router router = router(P);
        occupy(router, 4000);
        int bare = slot(router.decide(request(workers(2, B), 1000)));
        assertEquals(1, bare);
        assertEquals(bare, slot(router.decide(request(weighing(B, 3, 3), 1000))));
        // The control: worth a hundred of the other, the busy one is the cheaper one.
        assertEquals(0, slot(router.decide(request(weighing(B, 100, 1), 1000))));
    }

    @Test
    void cached_blocks_need_no_prefill_but_slower_tiers_need_loading() {
        RoutingDecision d =
                router(P)
                        .decide(
                                request(
                                                workers(1, B),
                                                20 * B,
                                                tiers(B, 20, new int[] {2, 5, 9, 10}))
                                        .with(SharedView.of(new SharedHits(B, 0, 14))));
        assertEquals(14 * B, term(d, 0, "cached_tokens"));
        assertEquals(6 * B, term(d, 0, "new_tokens"));
        assertEquals(P.prefillMillis(6 * B, 14 * B), term(d, 0, "prefill_ms"), 1e-9);
        double load = 1000 * (3 * B / 150_000.0 + 9 * B / 75_000.0);
        assertEquals(load, term(d, 0, "load_ms"), 1e-9);
    }

    @Test
    void work_that_another_gateway_has_sent_is_waited_for_and_teaches_nothing() {
        Router router = router(PREFILL_ONLY);
        RoutingRequest r = request(workers(2, B), 1000);
        Sent theirs = router.sentByPeer(new WorkerSlot(0), 8192, 10_000, 0, false);
        double work = P.prefillMillis(8192, 10_000 - 8192);
        assertEquals(work, term(router.decide(r), 0, "wait_ms"), 1e-6);
        assertEquals(1, slot(router.decide(r)), "the other worker is free");
        pass(50 * work); // as if the worker were far too slow
        theirs.firstToken();
        assertEquals(0, term(router.decide(r), 0, "wait_ms"), 1e-6);
        theirs.ended(-1);
        Sent late = router.sentByPeer(new WorkerSlot(1), 8192, 8192, 0, true);
        RoutingDecision d = router.decide(r);
        assertEquals(0, term(d, 1, "wait_ms"), 1e-6, "its prompt was computed before");
        late.ended(-1);
        d = router.decide(r);
        assertEquals(d.scores().get(0).cost(), d.scores().get(1).cost(), 1e-9, "equally fast");
    }

    @Test
    void a_waiting_prefill_is_waited_for_until_it_is_served() {
        Router router = router(PREFILL_ONLY);
        Sent first = occupy(router, 8192);
        double work = P.prefillMillis(8192, 0);
        RoutingRequest r = request(workers(2, B), 1000);
        assertEquals(work, term(router.decide(r), 0, "wait_ms"), 1e-6);
        pass(100);
        assertEquals(work - 100, term(router.decide(r), 0, "wait_ms"), 1e-6);
        Sent second = occupy(router, 8192);
        assertEquals(2 * work - 100, term(router.decide(r), 0, "wait_ms"), 1e-6);
        pass(1000);
        assertEquals(
                work, term(router.decide(r), 0, "wait_ms"), 1e-6, "at most its own work is done");
        first.firstToken();
        assertEquals(work, term(router.decide(r), 0, "wait_ms"), 1e-6);
        pass(50);
        assertEquals(work - 50, term(router.decide(r), 0, "wait_ms"), 1e-6);
        second.ended(-1);
        first.ended(-1);
        assertEquals(0, term(router.decide(r), 0, "wait_ms"));
    }

    @Test
    void a_short_queue_before_a_cached_prefix_is_worth_waiting_for_and_a_long_one_is_not() {
        Router router = router(PREFILL_ONLY);
        occupy(router, 1000);
        RoutingRequest r = request(workers(2, B), 6400, device(B, 400, 300));
        assertEquals(0, slot(router.decide(r)));
        occupy(router, 10_000);
        assertEquals(1, slot(router.decide(r)));
    }

    /** 20 s of work in a window of 20 s on two workers: half of the time is booked. */
    @Test
    void the_price_of_work_rises_with_the_booked_share_and_falls_with_time() {
        LatencyPriors noDecode = new LatencyPriors(0, 0, 0, 1, 0, 150_000, 75_000, 1, 256);
        Router router = router(noDecode);
        Sent sent = occupy(router, 20_000);
        sent.firstToken();
        sent.ended(-1);
        RoutingRequest r = request(workers(2, B), 100);
        assertEquals(2, term(router.decide(r), 0, "work_price"), 1e-9);
        pass(20_000 + 10_000);
        assertEquals(4.0 / 3, term(router.decide(r), 0, "work_price"), 1e-9, "a quarter");
        pass(20_000);
        assertEquals(1, term(router.decide(r), 0, "work_price"));
    }

    @Test
    void a_worker_that_is_busy_half_of_the_time_doubles_the_price_at_any_moment() {
        LatencyPriors noDecode = new LatencyPriors(0, 0, 0, 1, 0, 150_000, 75_000, 1, 256);
        Router router = router(noDecode);
        RoutingRequest r = request(workers(1, B), 1000);
        for (int second = 0; second < 100; second += 2) {
            RoutingDecision d = router.decide(r);
            if (second > 40) {
                assertEquals(2, term(d, 0, "work_price"), 0.2, "after " + second + " s");
            }
            Sent sent = router.sent(d, true);
            pass(1000);
            sent.firstToken();
            sent.ended(-1);
            pass(1000);
        }
    }

    @Test
    void running_requests_slow_the_new_one_and_are_slowed_by_it() {
        Router router = router(P);
        for (int i = 0; i < 4; i++) {
            occupy(router, 2000).firstToken();
        }
        RoutingDecision d = router.decide(request(workers(2, B), 1000));
        double held = 4 * 2000 + 4 * 256 / 2.0;
        double growth = 0.020 * 4 + 52e-6 * held;
        double factor = term(d, 0, "prefill_factor"); // the first tokens came at once
        assertEquals(factor * (7.5 + growth), term(d, 0, "step_ms"), 1e-9);
        double rho = (term(d, 0, "work_price") - 1) / term(d, 0, "work_price");
        double weight = 0.05 + 0.1 * (1 - rho / 0.85);
        assertEquals(weight * 256 * growth, term(d, 0, "own_decode_ms"), 1e-9);
        assertEquals(
                weight * 4 * 256 * (0.020 + 52e-6 * (1000 + 128)),
                term(d, 0, "others_decode_ms"),
                1e-9);
        assertEquals(1, slot(d));
    }

    /** 20 s booked of 20 s on two workers is half; of 40 s it is all that counts. */
    @Test
    void decoding_counts_less_the_fuller_the_fleet() {
        LatencyPriors prior = new LatencyPriors(0, 0.02, 0, 1, 0, 150_000, 75_000, 1, 100);
        for (int[] booked : new int[][] {{0, 15}, {17_000, 10}, {60_000, 5}}) {
            Router router = router(prior);
            Sent first = occupy(router, 1);
            if (booked[0] > 0) {
                Sent sent = occupy(router, booked[0]);
                sent.firstToken();
                sent.ended(-1);
            }
            first.firstToken();
            RoutingDecision d = router.decide(request(workers(2, B), 100));
            double weight = term(d, 0, "own_decode_ms") / (100 * 0.02);
            assertEquals(booked[1] / 100.0, weight, 0.001, "booked " + booked[0]);
        }
    }

    /** Twice as slow as the priors, on both workers: what waits there is as slow. */
    @Test
    void a_learnt_speed_is_that_of_the_queue_too() {
        Router router = router(PREFILL_ONLY);
        double work = P.prefillMillis(8192, 0);
        for (int i = 0; i < 400; i++) {
            Sent s = occupy(router, 8192);
            pass(2 * work);
            s.firstToken();
            s.ended(-1);
        }
        RoutingRequest r = request(workers(2, B), 8192);
        double factor = term(router.decide(r), 0, "prefill_factor");
        assertEquals(2, factor, 0.05);
        double own = term(router.decide(r), 0, "prefill_ms");
        assertEquals(factor * work, own, 1e-6);
        Sent first = occupy(router, 8192);
        assertEquals(own, term(router.decide(r), 0, "wait_ms"), 1e-6);
        pass(work);
        assertEquals(own - work, term(router.decide(r), 0, "wait_ms"), 1e-6, "half is left");
        first.firstToken();
        assertEquals(0, term(router.decide(r), 0, "wait_ms"));
        first.ended(-1);
    }

    /** They came before the oldest one's step began, and fit into it. */
    @Test
    void short_prompts_that_are_computed_in_one_step_are_served_together() {
        Router router = router(PREFILL_ONLY);
        Sent earlier = occupy(router, 100);
        List<Sent> together = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            together.add(occupy(router, 1000));
        }
        pass(P.prefillMillis(100, 0));
        earlier.firstToken();
        double each = P.prefillMillis(1000, 0);
        RoutingRequest r = request(workers(2, B), 100);
        assertEquals(4 * each, term(router.decide(r), 0, "wait_ms"), 1e-6);
        pass(3 * each);
        assertEquals(each, term(router.decide(r), 0, "wait_ms"), 1e-6);
        Sent later = occupy(router, 1000);
        pass(2 * each);
        assertEquals(
                each, term(router.decide(r), 0, "wait_ms"), 1e-6, "it came after the step began");
        together.forEach(Sent::firstToken);
        later.ended(-1);
    }

    /** 1,000 blocks; one request with 600 blocks runs, answers take 16 blocks. */
    @Test
    void blocks_that_others_will_wait_for_have_a_price() {
        LatencyPriors decodeOnly = new LatencyPriors(10, 0, 0, 0, 0, 150_000, 75_000, 0, 256);
        Router router = router(decodeOnly);
        List<Candidate> known = Fleets.withRoom(B, 1000, 1000, 0);
        loads.book(new WorkerSlot(0), 0, loads.name("m", "", tokens(7, 600 * B), B), 0);
        router.sent(router.decide(pinned(known, 600 * B)), true).firstToken();
        RoutingDecision d = router.decide(request(known, 100 * B));
        double full = (600 + 100 + 2 * 16) / 1000.0;
        double taken = (100 + 16) / 1000.0;
        double answer = 256 * 10;
        assertEquals(answer * taken * Math.pow(full, 4) / (1 - full), term(d, 0, "room_ms"), 1e-6);
        double free = 0.116;
        assertEquals(answer * taken * Math.pow(free, 4) / (1 - free), term(d, 1, "room_ms"), 1e-6);
        assertEquals(0, term(d, 2, "room_ms"), "blocks not known");
        assertTrue(term(d, 0, "room_ms") > 100 * term(d, 1, "room_ms"));
        RoutingDecision most = router.decide(request(known, 5000 * B));
        assertEquals(answer * 5.016 * Math.pow(0.93, 4) / 0.07, term(most, 0, "room_ms"), 1e-6);
    }

    private RoutingRequest pinned(List<Candidate> among, int tokens) {
        return Fleets.pin(request(among, tokens), OptionalLong.of(0), OptionalInt.empty());
    }

    private static int[] tokens(int seed, int count) {
        return new SplittableRandom(seed).ints(count).toArray();
    }

    private RoutingRequest named(List<Candidate> among, int[] tokens) {
        return RoutingRequest.builder(among, tokens.length, List.of())
                .prompts(List.of(loads.name("m", "", tokens, B)))
                .build()
                .with(RoutingRequest.Detail.ALL);
    }

    /** Nine requests of one prefix on w0, which has a long queue: the tenth goes to w1. */
    @Test
    void a_decision_says_that_it_copies_a_hot_prefix() {
        Router router = router(PREFILL_ONLY);
        int[] prompt = tokens(1, 40 * B);
        for (int i = 0; i < 9; i++) {
            loads.book(new WorkerSlot(0), 0, loads.name("m", "", prompt, B), 0);
            router.sent(router.decide(pinned(workers(3, B), 2000)), true);
        }
        pass(500);
        RoutingDecision d = router.decide(named(workers(3, B), prompt));
        assertNotEquals(0, slot(d));
        assertTrue(d.reason().contains("; copying a hot prefix (1 of 3 holders)"), d.reason());
        RoutingDecision cold = router.decide(named(workers(3, B), tokens(2, 40 * B)));
        assertFalse(cold.reason().contains("copying"), cold.reason());
        RoutingDecision home = router.decide(named(List.of(workers(3, B).getFirst()), prompt));
        assertFalse(home.reason().contains("copying"), home.reason());
    }

    @Test
    void what_a_running_request_computes_counts_as_cached_until_it_is_gone() {
        Router router = router(P);
        int[] prompt = tokens(1, 20 * B);
        RoutingRequest r = named(workers(2, B), prompt);
        assertEquals(0, term(router.decide(r), 1, "cached_tokens"));
        var booking = loads.book(new WorkerSlot(1), 320, loads.name("m", "", prompt, B), 0);
        RoutingDecision d = router.decide(r);
        assertEquals(0, term(d, 0, "cached_tokens"));
        assertEquals(19 * B, term(d, 1, "cached_tokens"), "the last token is computed");
        assertEquals(1, slot(d));
        booking.close();
        assertEquals(0, term(router.decide(r), 1, "cached_tokens"));
    }

    /** Of 12 requests on two workers 6 are the mean; 9 with one prefix would fill 1.5 workers. */
    @Test
    void a_hot_prefix_is_copied_at_a_lower_price() {
        LatencyPriors noDecode = new LatencyPriors(0, 0, 0, 1, 0, 150_000, 75_000, 1, 256);
        Router router = router(noDecode);
        Sent work = occupy(router, 20_000); // half of the time is booked
        work.firstToken();
        int[] prompt = tokens(1, 40 * B);
        for (int i = 0; i < 9; i++) {
            loads.book(new WorkerSlot(0), 0, loads.name("m", "", prompt, B), 0);
        }
        for (int i = 0; i < 11; i++) {
            occupy(router, 1).firstToken();
        }
        pass(500); // the fleet is summed up anew
        RoutingDecision d = router.decide(named(workers(2, B), prompt));
        assertEquals(1.5, term(d, 1, "hot_engines"), 1e-9);
        double price =
                term(router.decide(named(workers(2, B), tokens(2, 40 * B))), 1, "work_price");
        assertEquals(2, price, 0.05);
        assertEquals(1 + (price - 1) / 1.5, term(d, 1, "work_price"), 1e-9);
        int[] half = tokens(3, 40 * B);
        System.arraycopy(prompt, 0, half, 0, 20 * B);
        RoutingDecision mixed = router.decide(named(workers(2, B), half));
        assertEquals(1 + (price - 1) * (0.5 / 1.5 + 0.5), term(mixed, 1, "work_price"), 1e-9);
    }

    @Test
    void a_hint_of_the_answers_length_is_used_and_lengths_are_learnt() {
        Router router = router(P);
        Sent running = occupy(router, 2000);
        running.firstToken();
        RoutingRequest r = request(workers(2, B), 1000);
        double usual = term(router.decide(r), 0, "own_decode_ms");
        RoutingRequest hinted =
                r.toBuilder()
                        .taints(TaintRules.NONE)
                        .shared(null)
                        .outputTokens(1)
                        .ineligible(List.of())
                        .build();
        assertTrue(term(router.decide(hinted), 0, "own_decode_ms") < usual / 100);
        RoutingRequest bounded = r.toBuilder().mostOutputTokens(8).build();
        assertTrue(
                term(router.decide(bounded), 0, "own_decode_ms") < usual / 30,
                "no answer is longer than its client lets it be");
        assertEquals(
                usual,
                term(
                        router.decide(r.toBuilder().mostOutputTokens(999).build()),
                        0,
                        "own_decode_ms"),
                1e-9);
        for (int i = 0; i < 300; i++) {
            Sent s = occupy(router, 10);
            s.firstToken();
            s.ended(16);
        }
        assertTrue(term(router.decide(r), 0, "own_decode_ms") < usual / 8);
    }

    @Test
    void a_worker_that_gives_no_first_token_gets_no_new_requests() {
        Router router = router(P);
        occupy(router, 100);
        RoutingRequest r = request(workers(2, B), 6400, device(B, 400, 390));
        assertEquals(0, slot(router.decide(r)));
        pass(5_000);
        RoutingDecision d = router.decide(r);
        assertTrue(term(d, 0, "overdue_ms") > 1_900);
        assertEquals(1, slot(d));
    }

    /** 16 prompts of 32k at once on 8 workers: two each. */
    @Test
    void a_burst_of_long_prompts_spreads_evenly() {
        Router router = router(P);
        int[] count = new int[8];
        for (int i = 0; i < 16; i++) {
            RoutingDecision d = router.decide(request(workers(8, B), 32_768));
            router.sent(d, i % 2 == 0);
            count[slot(d)]++;
        }
        for (int c : count) {
            assertEquals(2, c);
        }
    }

    /** Sooner or later another worker is cheaper than the queue before a common prefix. */
    @Test
    void a_shared_system_prompt_does_not_pin_everyone_to_one_worker() {
        Router router = router(P);
        RoutingRequest r = request(workers(4, B), 7500, device(B, 468, 375));
        List<Integer> slots = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            RoutingDecision d = router.decide(r);
            router.sent(d, true);
            slots.add(slot(d));
        }
        assertEquals(4, slots.stream().distinct().count(), slots.toString());
    }

    @Test
    void a_prompt_of_unknown_length_goes_where_least_is_going_on() {
        Router router = router(P);
        occupy(router, 4000);
        assertEquals(1, slot(router.decide(request(workers(2, B), 0))));
    }

    @Test
    void a_new_incarnation_of_a_slot_starts_idle() {
        WorkerRates rates = new WorkerRates(P, () -> now);
        WorkerSlot old = new WorkerSlot(3);
        WorkerSlot reborn = new WorkerSlot(3 | 1 << WorkerSlot.NUMBER_BITS);
        Sent lost = rates.sent(old, work(100), Shows.FIRST_TOKEN);
        assertEquals(1, rates.state(old).requests());
        assertEquals(0, rates.state(reborn).requests());
        rates.sent(reborn, work(100), Shows.FIRST_TOKEN);
        lost.firstToken();
        lost.ended(5);
        assertEquals(1, rates.state(reborn).requests());
        assertEquals(1, rates.state(reborn).pending());
        Sent late = rates.sent(old, work(100), Shows.FIRST_TOKEN);
        assertEquals(1, rates.state(reborn).pending(), "a late one does not take its place");
        late.ended(-1);
    }
}
