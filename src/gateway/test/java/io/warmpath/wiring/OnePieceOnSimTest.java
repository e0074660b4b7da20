package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.access.KeyHash;
import io.warmpath.sim.SimOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * As many answers in one piece as streamed ones: clients of 20 tenants that ask again as soon as
 * they have their answer, through the whole gateway and over HTTP. Both kinds take turns.
 */
@Tag("slow")
class OnePieceOnSimTest {
    private static final int TENANTS = 20;
    private static final int ROUNDS = 3;
    private static final int WORDS = 1_000;

    @TempDir private Path folder;

    private final AtomicInteger asked = new AtomicInteger();
    private URI chat = URI.create("http://127.0.0.1");

    private static String key(int tenant) {
        return "a-key-of-thirty-two-characters-or-more-" + tenant;
    }

    private SimGateway start(boolean keys, int prefillPerSecond) throws Exception {
        Map<String, String> settings = new HashMap<>();
        if (keys) {
            StringBuilder file = new StringBuilder("keys:\n");
            for (int i = 0; i < TENANTS; i++) {
                file.append("  - {name: k" + i + ", tenant: t" + i + ", sha256: ")
                        .append(KeyHash.of(key(i)).hex())
                        .append("}\n");
            }
            Path written = Files.writeString(folder.resolve("keys.yaml"), file);
            settings.put("warmpath.auth.key-file", written.toString());
        }
        SimOptions.Builder[] engines = new SimOptions.Builder[2];
        for (int i = 0; i < engines.length; i++) {
            engines[i] =
                    SimOptions.builder()
                            .prefillTokensPerSecond(prefillPerSecond)
                            .interToken(Duration.ofMillis(5));
        }
        SimGateway gateway = SimGateway.start(settings, engines);
        chat = gateway.url().resolve("/v1/chat/completions");
        return gateway;
    }

    /** Answers per second, of clients that begin none after this time. */
    private double play(HttpClient client, int clients, boolean streamed, Duration time)
            throws Exception {
        AtomicInteger answers = new AtomicInteger();
        long began = System.nanoTime();
        long end = began + time.toNanos();
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService each = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int c = 0; c < clients; c++) {
                int number = c;
                all.add(
                        each.submit(
                                () -> {
                                    while (System.nanoTime() < end) {
                                        int status = ask(client, number % TENANTS, streamed);
                                        assertEquals(200, status);
                                        answers.incrementAndGet();
                                    }
                                    return null;
                                }));
            }
        }
        for (Future<?> one : all) {
            one.get();
        }
        return answers.get() / ((System.nanoTime() - began) / 1e9);
    }

    private int ask(HttpClient client, int tenant, boolean streamed) throws Exception {
        String body =
                "{\"model\":\"demo\",\"max_tokens\":16,\"ignore_eos\":true,\"stream\":"
                        + streamed
                        + ",\"messages\":[{\"role\":\"user\",\"content\":\""
                        + asked.incrementAndGet()
                        + " word".repeat(WORDS)
                        + "\"}]}";
        HttpRequest request =
                HttpRequest.newBuilder(chat)
                        .header("content-type", "application/json")
                        .header("authorization", "Bearer " + key(tenant))
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build();
        return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }

    private double ratio(boolean keys, int clients, int prefillPerSecond, Duration time)
            throws Exception {
        double streamed = 0;
        double whole = 0;
        SimGateway gateway = start(keys, prefillPerSecond);
        try (HttpClient client = HttpClient.newHttpClient()) {
            play(client, clients, true, Duration.ofSeconds(1)); // until code is compiled
            play(client, clients, false, Duration.ofSeconds(1));
            for (int i = 0; i < ROUNDS; i++) {
                streamed += play(client, clients, true, time);
                whole += play(client, clients, false, time);
            }
        } finally {
            gateway.close();
        }
        System.out.printf(
                Locale.ROOT,
                "%d clients %s keys, %d tokens/s: %.1f/s streamed, %.1f/s in one piece, ratio %.2f%n",
                clients,
                keys ? "with" : "without",
                prefillPerSecond,
                streamed / ROUNDS,
                whole / ROUNDS,
                whole / streamed);
        return whole / streamed;
    }

    @Test
    void answers_in_one_piece_are_as_many_as_streamed_ones() throws Exception {
        double ratio = ratio(true, 32, 20_000, Duration.ofSeconds(2));
        assertTrue(ratio >= 0.9, () -> "ratio " + ratio);
    }

    /** In the last rows engines are five times as fast, and as slow, as they are thought to be. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({
        "true,1,20000",
        "true,8,20000",
        "true,64,20000",
        "false,1,20000",
        "false,8,20000",
        "false,32,20000",
        "false,64,20000",
        "true,32,150000",
        "true,32,6000"
    })
    void with_keys_and_without_by_one_client_and_by_many(
            boolean keys, int clients, int prefillPerSecond) throws Exception {
        double ratio = ratio(keys, clients, prefillPerSecond, Duration.ofSeconds(5));
        assertTrue(ratio >= 0.95, () -> "ratio " + ratio);
    }
}
