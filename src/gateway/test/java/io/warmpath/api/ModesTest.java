package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.modes.Routers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What all modes have in common, with the product's own routers and requests that really run. */
@ExtendWith(Leaks.class)
class ModesTest {
    private static final int RANKS = 2;

    private final Semaphore answers = new Semaphore(0);
    private Gateway gateway;
    private StubEngine engine;

    static Stream<RouterOptions> modes() {
        List<RouterOptions> all = new ArrayList<>();
        for (RouterMode mode : RouterMode.values()) {
            all.add(RouterOptions.of(mode));
        }
        all.add(RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS));
        return all.stream();
    }

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
        gateway.tokens.ids = new int[100]; // of which everyone holds 48
        engine =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            call.chunk(token("a"));
                            assertTrue(answers.tryAcquire(20, TimeUnit.SECONDS));
                            call.chunk(DONE);
                            call.lastChunk();
                        });
        gateway.fleet.workers(
                List.of(
                        worker(0, WorkerState.READY),
                        worker(1, WorkerState.READY),
                        worker(2, WorkerState.DRAINING),
                        worker(3, WorkerState.UNHEALTHY)));
    }

    private Worker worker(int id, WorkerState state) {
        return Gateway.worker(id, engine.url(), EngineKind.VLLM, state, RANKS);
    }

    @AfterEach
    void stop() throws Exception {
        answers.release(1000);
        gateway.close(engine);
    }

    private WorkerLoad load(int worker, int rank) {
        return gateway.books.sums.load(new WorkerSlot(10 * worker + rank));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void every_mode_books_each_request_where_it_went_until_it_ends(RouterOptions options)
            throws Exception {
        gateway.router.instead =
                Routers.create(options, gateway.books, () -> new Random(7), System::nanoTime);
        int[][] running = new int[4][RANKS];
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                RawClient client = new RawClient(gateway.port);
                clients.add(client);
                client.sendPost(
                        Gateway.CHAT,
                        Gateway.ASK,
                        "x-warmpath-explain: 1",
                        options.mode() == RouterMode.DIRECT
                                ? "x-worker-instance-id: " + i % 2
                                : "x-nothing: 1");
                String head = client.readHead();
                assertEquals(200, RawClient.status(head), head);
                String went = head.replaceAll("(?si).*x-warmpath-worker: w(\\d/\\d).*", "$1");
                int worker = went.charAt(0) - '0';
                int rank = went.charAt(2) - '0';
                assertTrue(worker < 2, "neither draining nor unhealthy: " + went);
                WorkerLoad now = load(worker, rank);
                assertEquals(++running[worker][rank], now.requests(), went);
                assertEquals(0, now.prefillTokens(), "its first token is here");
                assertTrue(now.blocks() >= 7, "a prompt of 100 tokens: " + now);
            }
            assertEquals(8, gateway.books.booked.get());
        } finally {
            answers.release(8);
            for (RawClient client : clients) {
                client.close();
            }
        }
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        for (int worker = 0; worker < 4; worker++) {
            for (int rank = 0; rank < RANKS; rank++) {
                assertEquals(WorkerLoad.IDLE, load(worker, rank));
            }
        }
    }
}
