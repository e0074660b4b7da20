package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.half.Disaggregation;
import io.warmpath.sim.half.Disaggregation.Mode;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two gateways before one engine that prefills and one that decodes, over a real nats-server. */
@Tag("slow")
class SplitReplicasOnSimTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir Path folder;

    private static Map<String, String> settings(NatsServer server, String id) {
        Map<String, String> s = new HashMap<>();
        s.put("warmpath.models.\"demo\".path", "src/tokens/main/resources/demo-model");
        s.put("warmpath.replica.sync", "true");
        s.put("warmpath.nats.router-id", id);
        s.put("warmpath.nats.servers", server.url());
        s.put("warmpath.replica.max-age", "500ms"); // the machine may be busy
        return s;
    }

    private static SimOptions.Builder half(Mode mode) {
        return SimOptions.builder()
                .prefillTokensPerSecond(200) // seconds for the prompt, and for the answer
                .answerTokens(150)
                .interToken(Duration.ofMillis(20))
                .disaggregation(Disaggregation.of(mode, 0));
    }

    /** Of the first rank of a worker, as a gateway sees it. */
    private static double load(SimGateway gateway, String what, String worker) {
        return gateway.meters.get("warmpath.worker." + what).tag("worker", worker).gauge().value();
    }

    private static String requests(SimGateway gateway) {
        return (int) load(gateway, "requests", "w0") + " " + (int) load(gateway, "requests", "w1");
    }

    @Test
    void another_gateway_sees_both_halves_each_for_as_long_as_it_runs() throws Exception {
        try (NatsServer server = NatsServer.start(folder)) {
            SimGateway a =
                    SimGateway.start(settings(server, "a"), half(Mode.PREFILL), half(Mode.DECODE));
            try {
                SimGateway b = SimGateway.beside(a, settings(server, "b"));
                try {
                    await().atMost(SOON)
                            .until(() -> b.get("/replicas").body().contains("\"counted\":true"));
                    CompletableFuture<HttpResponse<String>> answer =
                            CompletableFuture.supplyAsync(
                                    () -> chat(a), task -> Thread.ofVirtual().start(task));
                    await().atMost(SOON).until(() -> requests(b).equals("1 1"));
                    assertEquals(load(a, "prefill.tokens", "w0"), load(b, "prefill.tokens", "w0"));
                    assertEquals(0, load(b, "prefill.tokens", "w1"), "it computes nothing");
                    assertEquals(load(a, "blocks", "w1"), load(b, "blocks", "w1"));
                    await().atMost(SOON).until(() -> requests(b).equals("0 1"));
                    assertEquals(200, answer.get(30, TimeUnit.SECONDS).statusCode());
                    await().atMost(SOON).until(() -> requests(b).equals("0 0"));
                } finally {
                    b.close();
                }
            } finally {
                a.close();
            }
        }
    }

    private static HttpResponse<String> chat(SimGateway gateway) {
        try {
            return gateway.post(
                    "/v1/chat/completions",
                    "{\"model\":\"demo\",\"stream\":true,\"messages\":[{\"role\":\"user\","
                            + "\"content\":\""
                            + "Always answer in rhyme, and never twice alike. ".repeat(40)
                            + "\"}]}");
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
