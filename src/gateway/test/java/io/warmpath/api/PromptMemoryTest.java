package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** How long the memory of a prompt is kept. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
class PromptMemoryTest {
    private static final int REQUESTS = 24;
    private static final int PROMPT_BYTES = 2 << 20;

    @Parameter EnginePath path;

    private final CountDownLatch speak = new CountDownLatch(1);
    private final CountDownLatch stop = new CountDownLatch(1);
    private final List<RawClient> clients = new ArrayList<>();
    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(path);
        engine =
                new StubEngine(
                        call -> {
                            assertTrue(speak.await(60, TimeUnit.SECONDS));
                            call.streamHead();
                            call.chunk(token("a"));
                            assertTrue(stop.await(60, TimeUnit.SECONDS));
                        });
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        stop.countDown();
        for (RawClient client : clients) {
            client.close();
        }
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        gateway.close();
        engine.close();
    }

    @Test
    void a_prompt_is_kept_for_a_second_try_until_its_first_token_and_no_longer() throws Exception {
        String ask = Gateway.ASK.replace("hi", "x".repeat(PROMPT_BYTES));
        for (int i = 0; i < REQUESTS; i++) {
            RawClient client = new RawClient(gateway.port);
            clients.add(client);
            client.sendPost(Gateway.CHAT, ask);
        }
        await().until(() -> engine.requests.get() == REQUESTS);
        engine.calls.clear(); // the engine's copies are not what is measured
        long before = usedBytes();
        speak.countDown();
        for (RawClient client : clients) {
            client.readHead();
            client.readChunk();
        }
        long most = (long) REQUESTS * PROMPT_BYTES;
        await().untilAsserted(
                        () -> {
                            long freed = before - usedBytes();
                            assertTrue(
                                    freed > most * 3 / 4,
                                    () -> freed + " of " + most + " bytes are free again");
                        });
    }

    private static long usedBytes() {
        System.gc();
        Runtime r = Runtime.getRuntime();
        return r.totalMemory() - r.freeMemory();
    }
}
