package io.warmpath.routing;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.pin;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.worker;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OtherRoutersTest {
    private static final int B = 16;

    private final LoadTracker loads = new LoadTracker();

    private Router router(RouterMode mode) {
        SplittableRandom random = new SplittableRandom(3);
        return Routers.create(RouterOptions.of(mode), loads, () -> random);
    }

    private static String next(Router router, List<Candidate> candidates) {
        return router.decide(request(candidates, B)).chosen().candidate().worker().name();
    }

    @ParameterizedTest
    @EnumSource(RouterMode.class)
    void every_mode_honours_pins_and_explains_itself(RouterMode mode) {
        Router router = router(mode);
        assertEquals(mode, router.mode());
        List<Candidate> all = new ArrayList<>(workers(3, B));
        all.addAll(Fleets.ranks(9, B, 3, 4));
        RoutingRequest r = request(all, 4 * B + 1, device(B, 4, 0, 0, 0, 2, 3));
        for (int i = 0; i < 20; i++) {
            RoutingDecision d = router.decide(pin(r, OptionalLong.of(9), OptionalInt.of(1)));
            assertEquals("w9/1", d.chosen().candidate().label());
            assertEquals(mode, d.mode());
            assertEquals("pinned by client", d.reason());
            assertEquals(3 * B, d.chosen().cachedTokens());
            assertEquals(5, d.blocks());
            assertTrue(d.scores().contains(d.chosen()));
        }
        assertThrows(
                GatewayException.class,
                () -> router.decide(pin(r, OptionalLong.of(77), OptionalInt.empty())));
        assertThrows(
                GatewayException.class,
                () -> router.decide(pin(r, OptionalLong.of(9), OptionalInt.of(2))));
    }

    @Test
    void a_rank_pin_alone_leaves_every_worker_that_has_the_rank() {
        List<Candidate> all = new ArrayList<>(Fleets.ranks(1, B, 0, 1));
        all.addAll(Fleets.ranks(2, B, 2, 3));
        all.add(worker(4, B));
        loads.book(new WorkerSlot(1), 0, 5);
        RouterOptions blocks = RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS);
        RoutingDecision d =
                Routers.create(blocks, loads, () -> new SplittableRandom(3))
                        .decide(pin(request(all, B), OptionalLong.empty(), OptionalInt.of(1)));
        assertEquals("w2/1", d.chosen().candidate().label());
    }

    @Test
    void round_robin_takes_turns() {
        Router router = router(RouterMode.ROUND_ROBIN);
        List<Candidate> three = workers(3, B);
        StringBuilder seen = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            seen.append(next(router, three));
        }
        assertEquals("w0w1w2w0w1w2", seen.toString());
    }

    @Test
    void round_robin_stays_even_when_models_share_workers() {
        Router router = router(RouterMode.ROUND_ROBIN);
        List<Candidate> a = workers(2, B);
        List<Candidate> b = List.of(worker(2, B), worker(3, B));
        StringBuilder seen = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            seen.append(next(router, a)).append(next(router, b));
        }
        // A counter common to both models would send each of them to one worker for ever.
        assertEquals("w0w2w1w3w0w2w1w3", seen.toString());
    }

    @Test
    void round_robin_goes_on_when_a_worker_leaves_and_one_joins() {
        Router router = router(RouterMode.ROUND_ROBIN);
        next(router, workers(3, B)); // w0
        List<Candidate> without1 = List.of(worker(0, B), worker(2, B));
        assertEquals("w2", next(router, without1));
        List<Candidate> joined = List.of(worker(0, B), worker(2, B), worker(500, B));
        assertEquals("w500", next(router, joined));
        assertEquals("w0", next(router, joined));
    }

    @Test
    void round_robin_is_exact_with_many_threads() throws InterruptedException {
        Router router = router(RouterMode.ROUND_ROBIN);
        List<Candidate> four = workers(4, B);
        AtomicIntegerArray count = new AtomicIntegerArray(4);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            threads.add(
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        for (int i = 0; i < 1000; i++) {
                                            RoutingDecision d = router.decide(request(four, B));
                                            count.incrementAndGet(
                                                    d.chosen().candidate().slot().index());
                                        }
                                    }));
        }
        for (Thread t : threads) {
            t.join();
        }
        for (int i = 0; i < 4; i++) {
            assertEquals(1000, count.get(i));
        }
    }

    @Test
    void random_is_even() {
        Router router = router(RouterMode.RANDOM);
        int[] count = new int[4];
        int draws = 40_000;
        for (int i = 0; i < draws; i++) {
            count[router.decide(request(workers(4, B), B)).chosen().candidate().slot().index()]++;
        }
        double expected = draws / 4.0;
        double chiSquare = 0;
        for (int c : count) {
            chiSquare += Math.pow(c - expected, 2) / expected;
        }
        assertFalse(chiSquare > 16.27, "chi-square " + chiSquare); // 3 degrees, p = 0.001
    }

    @Test
    void direct_refuses_a_request_that_names_no_worker() {
        GatewayException e =
                assertThrows(
                        GatewayException.class,
                        () -> router(RouterMode.DIRECT).decide(request(workers(2, B), B)));
        assertEquals(400, e.error().httpStatus());
        assertEquals(
                "This gateway routes by request (router mode direct): name a worker in"
                        + " nvext.backend_instance_id or the header x-dynamo-worker-instance-id.",
                e.error().message());
    }

    @Test
    void direct_takes_the_cheapest_rank_when_none_is_named() {
        List<Candidate> ranks = Fleets.ranks(9, B, 0, 1);
        RoutingDecision d =
                router(RouterMode.DIRECT)
                        .decide(
                                pin(
                                        request(ranks, 4 * B, device(B, 4, 0, 2)),
                                        OptionalLong.of(9),
                                        OptionalInt.empty()));
        assertEquals("w9/1", d.chosen().candidate().label());
        assertEquals(RouterMode.DIRECT, d.mode());
    }
}
