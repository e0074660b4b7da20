package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.AgentFeatures;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.SimStats;
import io.warmpath.sim.wire.WireFormat;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a client's priority does on engines that take one, through the whole gateway. */
@Tag("slow")
class PriorityOnSimTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String IMPORTANT = ",\"nvext\":{\"agent_hints\":{\"priority\":10}}";

    private final List<String> ended = Collections.synchronizedList(new ArrayList<>());
    private SimGateway gateway;

    @AfterEach
    void stop() throws Exception {
        gateway.close();
    }

    private void start(AgentFeatures features, SimOptions.Builder engine, String order)
            throws Exception {
        gateway = SimGateway.start(Map.of(), engine.wire(WireFormat.SGLANG_MAP).agents(features));
        String workers = gateway.get("/workers").body();
        assertTrue(workers.contains("\"priority\":\"" + order + "\""), workers);
    }

    private HttpResponse<String> ask(int from, int prompt, int answer, String more)
            throws Exception {
        HttpResponse<String> said =
                gateway.post(
                        "/v1/completions",
                        "{\"model\":\"demo\",\"ignore_eos\":true,\"max_tokens\":"
                                + answer
                                + ",\"prompt\":"
                                + IntStream.range(from, from + prompt).boxed().toList()
                                + more
                                + "}",
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, said.statusCode(), said.body());
        return said;
    }

    private long engine(ToLongFunction<SimStats.RankStats> what) {
        return gateway.engines.getFirst().stats().sum(what);
    }

    private Future<String> send(
            ExecutorService on, String name, int from, int answer, String more) {
        return on.submit(
                () -> {
                    HttpResponse<String> said = ask(from, 20, answer, more);
                    ended.add(name);
                    return said.headers().firstValue("x-warmpath-hints").orElse("");
                });
    }

    @ParameterizedTest
    @CsvSource({"false,higher-first,10", "true,lower-first,-10"})
    void what_is_important_overtakes_in_the_engines_queue(
            boolean lowFirst, String order, String sent) throws Exception {
        start(
                AgentFeatures.NONE.withPriorityScheduling(lowFirst),
                SimOptions.builder().maxBatch(1).interToken(Duration.ofMillis(5)),
                order);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<String>> all = new ArrayList<>();
            all.add(send(clients, "running", 100, 400, ""));
            await().until(() -> engine(SimStats.RankStats::running) == 1);
            for (int i = 1; i <= 4; i++) {
                all.add(send(clients, "usual " + i, 1_000 * i, 2, ""));
            }
            await().until(() -> engine(SimStats.RankStats::waiting) == 4);
            Future<String> important = send(clients, "important", 9_000, 2, IMPORTANT);
            await().until(() -> engine(SimStats.RankStats::waiting) == 5);
            assertEquals(List.of(), ended, "the first one runs long enough");
            assertEquals("priority=10.0;strict=0;osl=0;engine=" + sent, important.get());
            for (Future<String> one : all) {
                one.get();
            }
        }
        assertEquals(List.of("running", "important"), ended.subList(0, 2));
        assertEquals(6, ended.size());
    }

    @Test
    void what_is_important_is_evicted_last() throws Exception {
        int[] found = new int[2];
        for (int i = 0; i < 2; i++) {
            if (i > 0) {
                gateway.close();
            }
            start(
                    AgentFeatures.NONE.withPriorityEviction(),
                    SimOptions.builder()
                            .gpuBlocks(24)
                            .prefillTokensPerSecond(1e6)
                            .interToken(Duration.ofNanos(100_000)),
                    "higher-first");
            ask(0, 129, 1, i == 0 ? "" : IMPORTANT);
            for (int other = 1; other <= 6; other++) {
                ask(1_000 * other, 129, 1, "");
            }
            found[i] =
                    JSON.readTree(ask(0, 129, 1, "").body())
                            .at("/usage/prompt_tokens_details/cached_tokens")
                            .asInt();
        }
        assertEquals(0, found[0], "the control");
        assertEquals(128, found[1]);
    }
}
