package io.warmpath.adapter.trtllm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.probe.EngineDialect;
import io.warmpath.fleet.probe.EngineFacts;
import io.warmpath.fleet.probe.EngineHttp;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.HealthAnswers;
import io.warmpath.fleet.probe.Unread;
import io.warmpath.fleet.probe.WorkerProbe.Health;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code trtllm-serve}: its models are owned by {@code tensorrt_llm}, while its {@code /version} is
 * as vLLM's. Block size, blocks and load are gauges of {@code /prometheus/metrics}, which is there
 * with {@code return_perf_metrics} alone; {@code /metrics} is left alone, as reading it takes the
 * statistics away from whoever else reads them. Stateless.
 */
public final class TrtllmDialect implements EngineDialect {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String OWNER = "tensorrt_llm";
    private static final String METRICS = "/prometheus/metrics";

    /** What {@code kv_cache_config.tokens_per_block} is by default. */
    private static final int USUAL_BLOCK_SIZE = 32;

    private static final Pattern GAUGE =
            Pattern.compile(
                    "^trtllm_(num_requests_running|num_requests_waiting|kv_cache_utilization"
                            + "|kv_cache_tokens_per_block|kv_cache_max_blocks)"
                            + "(?:\\{[^}]*})? ([0-9.eE+-]+)$",
                    Pattern.MULTILINE);

    @Override
    public EngineKind kind() {
        return EngineKind.TRTLLM;
    }

    @Override
    public int usualBlockSize() {
        return USUAL_BLOCK_SIZE;
    }

    @Override
    public Optional<EngineFacts> ask(URI worker, EngineHttp http) throws IOException {
        EngineHttp.Answer models = http.get(worker, "/v1/models");
        if (!Unread.isOffered("/v1/models", models) || !isIts(models.body())) {
            return Optional.empty();
        }
        Unread unread = new Unread();
        String version = unread.page(worker, "/version", "version", http);
        Map<String, Double> gauges =
                gauges(unread.page(worker, METRICS, "block-size and capacity", http));
        return Optional.of(
                new EngineFacts(
                        EngineKind.TRTLLM,
                        tree(version).path("version").asText(""),
                        number(gauges, "kv_cache_tokens_per_block"),
                        0,
                        new Capacity(0, number(gauges, "kv_cache_max_blocks")),
                        List.of(EventEndpoint.polled(worker)),
                        unread.all()));
    }

    /** 0 where it is not told. */
    private static int number(Map<String, Double> gauges, String name) {
        return Math.max(0, gauges.getOrDefault(name, 0.0).intValue());
    }

    private static boolean isIts(String models) {
        for (JsonNode model : tree(models).path("data")) {
            if (model.path("owned_by").asText("").equals(OWNER)) {
                return true;
            }
        }
        return false;
    }

    /** A missing node when it is no JSON: something else that answers every path. */
    private static JsonNode tree(String body) {
        try {
            return JSON.readTree(body);
        } catch (JsonProcessingException e) {
            return JSON.missingNode();
        }
    }

    /** {@code /health} looks at flags; this one generates a token. */
    @Override
    public Health deepHealth(URI worker, EngineHttp http, Duration patience) throws IOException {
        return HealthAnswers.read(
                "/health_generate", http.get(worker, "/health_generate", patience));
    }

    /** Of rank 0 alone: the gauges tell of no other one. */
    @Override
    public List<EngineLoad> load(URI worker, EngineHttp http) throws IOException {
        EngineHttp.Answer metrics = http.get(worker, METRICS);
        Map<String, Double> gauges = gauges(metrics.ok() ? metrics.body() : "");
        Double running = gauges.get("num_requests_running");
        Double waiting = gauges.get("num_requests_waiting");
        return running == null || waiting == null
                ? List.of()
                : List.of(
                        new EngineLoad(
                                0,
                                running.intValue(),
                                waiting.intValue(),
                                -1,
                                gauges.getOrDefault("kv_cache_utilization", -1.0)));
    }

    /** By name without {@code trtllm_}; empty where it has none. */
    private static Map<String, Double> gauges(String metrics) {
        Map<String, Double> out = new HashMap<>();
        Matcher m = GAUGE.matcher(metrics);
        while (m.find()) {
            try {
                out.put(m.group(1), Double.valueOf(m.group(2)));
            } catch (NumberFormatException e) {
                out.remove(m.group(1)); // a gauge that is no number tells nothing
            }
        }
        return out;
    }
}
