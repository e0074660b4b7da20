package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.UpstreamOptions;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Clients that leave: the engine is stopped at once and the books are closed. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class ClientGoneTest {
    @Parameter EnginePath path;

    private Gateway gateway;
    private StubEngine engine;

    private void start(StubEngine.Script script) throws Exception {
        gateway = new Gateway(path);
        engine = new StubEngine(script);
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        assertEquals(0, gateway.books.closedTwice.get());
        assertEquals(0, gateway.meters.get("warmpath.requests.active").gauge().value());
        gateway.close();
        if (engine != null) {
            engine.close();
            assertTrue(engine.failures.isEmpty(), () -> "engine: " + engine.failures);
        }
    }

    private void assertCancelled(int times) {
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        times,
                                        gateway.counter(
                                                "warmpath.requests", "outcome", "cancelled")));
    }

    @Test
    void leaving_before_the_head_stops_the_engine() throws Exception {
        Semaphore asked = new Semaphore(0);
        Semaphore gone = new Semaphore(0);
        start(
                call -> {
                    asked.release();
                    assertTrue(call.awaitGone());
                    gone.release();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            assertTrue(asked.tryAcquire(10, TimeUnit.SECONDS));
        }
        assertTrue(gone.tryAcquire(10, TimeUnit.SECONDS), "the engine goes on");
        assertCancelled(1);
    }

    @Test
    void leaving_in_mid_stream_stops_the_engine_without_another_token() throws Exception {
        Semaphore gone = new Semaphore(0);
        start(
                call -> {
                    call.streamHead();
                    call.chunk(token("a"));
                    assertTrue(call.awaitGone());
                    gone.release();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            client.readChunk();
            client.reset();
        }
        assertTrue(gone.tryAcquire(10, TimeUnit.SECONDS), "the engine goes on");
        assertCancelled(1);
    }

    @Test
    void leaving_with_another_request_behind_the_running_one_stops_the_engine() throws Exception {
        Semaphore gone = new Semaphore(0);
        gateway = new Gateway(path);
        engine =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            call.chunk(StreamingPathTest.token("a"));
                            if (call.awaitGone()) {
                                gone.release();
                            }
                        });
        gateway.serve(engine);
        assumeTrue(path.isRaw(), "Vert.x 4.5 does not tell of it on its own path");
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            // The second has been read when what follows it in the socket has been read, too; that
            // cannot be seen from here, but either order has to end well.
        }
        assertTrue(gone.tryAcquire(10, TimeUnit.SECONDS), "the engine goes on");
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
    }

    @Test
    void leaving_while_the_connection_is_being_made_leaves_nothing_behind() throws Exception {
        UpstreamOptions slow =
                Gateway.upstream(
                        Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(30));
        gateway = new Gateway(path, GatewayOptions.defaults(), slow, Runnable::run);
        List<Socket> queue = new ArrayList<>();
        try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            EngineFailureTest.fill(deaf, queue);
            URI url = URI.create("http://127.0.0.1:" + deaf.getLocalPort());
            gateway.fleet.workers(
                    List.of(Gateway.worker(0, url, EngineKind.OPENAI, WorkerState.READY, 1)));
            try (RawClient client = new RawClient(gateway.port)) {
                client.sendPost(Gateway.CHAT, Gateway.ASK);
                await().untilAsserted(() -> assertEquals(1, gateway.books.open()));
            }
            assertCancelled(1);
        } finally {
            for (Socket s : queue) {
                s.close();
            }
        }
    }

    @Test
    void leaving_while_the_prompt_is_being_tokenised_asks_no_engine() throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        CountDownLatch tokenising = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        gateway =
                new Gateway(
                        path,
                        GatewayOptions.defaults(),
                        UpstreamOptions.defaults(),
                        task ->
                                threads.add(
                                        Thread.ofPlatform()
                                                .start(
                                                        () -> {
                                                            tokenising.countDown();
                                                            awaitLatch(left);
                                                            task.run();
                                                        })));
        gateway.tokens.cheap = false;
        engine = new StubEngine(call -> call.json(200, "{}"));
        gateway.serve(engine);
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            assertTrue(tokenising.await(10, TimeUnit.SECONDS));
        }
        assertCancelled(1);
        left.countDown();
        for (Thread t : threads) {
            t.join();
        }
        assertEquals(200, gateway.post(Gateway.ASK).status()); // the loop has passed by there
        assertEquals(1, engine.requests.get());
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void leaving_in_the_middle_of_the_request_body_is_counted() throws Exception {
        start(call -> call.json(200, "{}"));
        try (RawClient client = new RawClient(gateway.port)) {
            client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n");
            client.send("Content-Length: 1000\r\n\r\n{\"model\"");
            client.reset();
        }
        assertCancelled(1);
        assertEquals(0, engine.requests.get());
    }

    @Test
    void two_hundred_streams_with_clients_leaving_at_random_leave_no_booking() throws Exception {
        // The second half of every stream waits until all who leave have left.
        CountDownLatch left = new CountDownLatch(1);
        start(
                call -> {
                    call.streamHead();
                    for (int i = 0; i < 20; i++) {
                        if (i == 10) {
                            assertTrue(left.await(60, TimeUnit.SECONDS));
                        }
                        call.chunk(token("t" + i));
                    }
                    call.chunk(DONE);
                    call.lastChunk();
                });
        long seed = 4711;
        int streams = 200;
        AtomicInteger whole = new AtomicInteger();
        List<Throwable> failures = new ArrayList<>();
        List<Thread> leaving = new ArrayList<>();
        List<Thread> staying = new ArrayList<>();
        for (int i = 0; i < streams; i++) {
            Random random = new Random(seed + i);
            int readBefore = random.nextBoolean() ? -1 : random.nextInt(7);
            (readBefore < 0 ? staying : leaving)
                    .add(
                            Thread.ofVirtual()
                                    .start(
                                            () -> {
                                                try {
                                                    if (stream(random, readBefore)) {
                                                        whole.incrementAndGet();
                                                    }
                                                } catch (Exception | AssertionError e) {
                                                    synchronized (failures) {
                                                        failures.add(e);
                                                    }
                                                }
                                            }));
        }
        for (Thread t : leaving) {
            t.join();
        }
        left.countDown();
        for (Thread t : staying) {
            t.join();
        }
        assertTrue(failures.isEmpty(), () -> "seed " + seed + ": " + failures);
        await().untilAsserted(() -> assertEquals(0, gateway.books.open(), "seed " + seed));
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        0,
                                        gateway.meters
                                                .get("warmpath.requests.active")
                                                .gauge()
                                                .value()));
        assertEquals(staying.size(), whole.get(), "seed " + seed);
        assertTrue(leaving.size() > 50, "seed " + seed);
        double ok = gateway.counter("warmpath.requests", "outcome", "ok");
        assertTrue(ok >= whole.get(), () -> ok + " ended well here, " + whole + " at clients");
    }

    /** Reads a stream to its end, or leaves after some bytes. */
    private boolean stream(Random random, int readBefore) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            if (readBefore < 0) {
                RawClient.Answer answer = client.readAnswer();
                assertTrue(answer.body().endsWith(DONE), answer::body);
                return true;
            }
            assertEquals(readBefore * 90, client.in.readNBytes(readBefore * 90).length);
            if (random.nextBoolean()) {
                client.reset();
            }
            return false;
        }
    }
}
