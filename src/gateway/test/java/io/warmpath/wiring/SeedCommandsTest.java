package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.source.CommandLine;
import io.warmpath.config.source.ConfigCheck;
import io.warmpath.config.source.WarmpathSources;
import io.warmpath.sim.AgentFeatures;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.SimPool;
import io.warmpath.sim.SimStats;
import io.warmpath.sim.model.SimTokenizer;
import io.warmpath.sim.wire.WireFormat;
import io.warmpath.wiring.settings.IdleSettings;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands, files and requests of the five documents that this product was asked for from, as
 * they stand there: only the program's name, hosts and ports are others. Engines are simulated.
 */
@Timeout(120)
@Tag("slow")
class SeedCommandsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String PROGRAM = "python -m dynamo.frontend ";
    private static final int BLOCKS = 8;

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable c : open.reversed()) {
            c.close();
        }
    }

    /** The settings that a command line of the documents makes. */
    private static Map<String, String> settings(String command) throws Exception {
        String line = command.replace("\\\n", " ").strip() + " ";
        assertTrue(line.startsWith(PROGRAM), line);
        String flags = line.substring(PROGRAM.length()).strip();
        return new HashMap<>(
                new CommandLine(SettingCatalog.read())
                        .parse(flags.isEmpty() ? List.of() : List.of(flags.split("\\s+"))));
    }

    /** Those of a file, which must be sound. */
    private static Map<String, String> file(String yaml) {
        ConfigSource file = WarmpathSources.yaml("gateway.yaml", yaml);
        assertEquals(
                List.of(),
                ConfigCheck.problems(
                        SettingCatalog.read(),
                        new SmallRyeConfigBuilder().withSources(file).build()));
        return new HashMap<>(file.getProperties());
    }

    private SimGateway start(Map<String, String> settings, SimOptions.Builder... engines)
            throws Exception {
        SimGateway gateway = SimGateway.start(settings, engines);
        open.add(gateway::close);
        return gateway;
    }

    private static SimOptions.Builder engine() {
        return SimOptions.builder()
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    /** Token ids of so many blocks; other {@code first}, other blocks. */
    private static String ids(int first, int blocks) {
        return IntStream.range(0, blocks * 16)
                .mapToObj(i -> String.valueOf(first + i))
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static HttpResponse<String> complete(SimGateway gateway, String ids) throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/completions",
                        "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":" + ids + "}",
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElseThrow();
    }

    private static JsonNode best(SimGateway gateway, String ids) throws Exception {
        return JSON.readTree(
                gateway.post("/router/best_worker", "{\"token_ids\":" + ids + "}").body());
    }

    // 000: HiCache

    @Test
    void hicache_the_frontend_alone() throws Exception {
        SimGateway gateway =
                start(settings("python -m dynamo.frontend --http-port 8000"), engine());
        assertEquals("latency", header(complete(gateway, ids(1, BLOCKS)), "x-warmpath-cost-model"));
        await().atMost(SOON)
                .until(() -> best(gateway, ids(1, BLOCKS)).get("overlap_blocks").asInt() > 0);
    }

    @Test
    void hicache_with_the_shared_pool() throws Exception {
        Map<String, String> settings =
                settings(
                        """
                        python -m dynamo.frontend \\
                          --http-port 8000 \\
                          --router-mode kv \\
                          --shared-cache-type hicache \\
                          --shared-cache-multiplier 0.5
                        """);
        settings.put("warmpath.shared-cache.deadline", "1s"); // a busy machine must not decide
        settings.put("warmpath.shared-cache.missing-ttl", "0ms");
        SimPool pool = SimPool.start("127.0.0.1", 0, "demo", 10_000, 1e6);
        open.add(pool);
        SimGateway gateway =
                start(
                        settings,
                        engine().hostBlocks(512).pool(pool),
                        engine().hostBlocks(512).pool(pool));
        complete(gateway, ids(1, BLOCKS));
        await().atMost(SOON).until(() -> pool.pages() >= BLOCKS);
        HttpResponse<String> again = complete(gateway, ids(1, BLOCKS));
        assertEquals("blocks", header(again, "x-warmpath-cost-model"), "the multiplier's");
        assertEquals(1, gateway.meters.get("router.shared.cache.hit.rate").summary().max());
        assertEquals(2, gateway.meters.get("router.shared.cache.beyond.blocks").summary().count());
    }

    @Test
    void hicache_page_size_is_the_block_size_of_engines_that_do_not_tell_theirs() throws Exception {
        assertEquals(
                Map.of("warmpath.fleet.default-block-size", "64"),
                settings("python -m dynamo.frontend --page-size 64"));
    }

    // 001: KV cache routing

    @Test
    void kv_routing_every_argument() throws Exception {
        Logs logs = new Logs(IdleSettings.class);
        open.add(logs::close);
        SimGateway gateway =
                start(
                        settings(
                                """
                                python -m dynamo.frontend --router-mode kv \\
                                  --kv-overlap-score-weight 1 --router-temperature 0 --no-kv-events \\
                                  --router-reset-states --router-snapshot-threshold 500
                                """),
                        engine(),
                        engine());
        assertEquals(
                List.of(
                        "warmpath.router.overlap-score-weight",
                        "--router-reset-states",
                        "--router-snapshot-threshold"),
                logs.at(Level.WARNING).stream().map(w -> w.split(" ", 2)[0]).toList());
        assertEquals(
                List.of(
                        "Costs are in blocks, as with --router-cost blocks: only that cost reads"
                                + " warmpath.router.overlap-score-weight. Where nothing of the kind"
                                + " is set, or with --router-cost latency, they are in"
                                + " milliseconds."),
                logs.at(Level.INFO));
        String worker = header(complete(gateway, ids(1, BLOCKS)), "x-warmpath-worker");
        HttpResponse<String> again = complete(gateway, ids(1, BLOCKS));
        assertEquals(worker, header(again, "x-warmpath-worker"));
        assertEquals("blocks", header(again, "x-warmpath-cost-model"));
        assertTrue(
                Integer.parseInt(header(again, "x-warmpath-predicted-cached-tokens")) > 0,
                "what this gateway has sent counts for 120 s");
    }

    @Test
    void kv_routing_the_modes_to_compare_with() throws Exception {
        for (String mode : List.of("random", "round-robin")) {
            SimGateway gateway =
                    start(
                            settings("python -m dynamo.frontend --router-mode " + mode),
                            engine(),
                            engine());
            complete(gateway, ids(1, 1));
        }
    }

    /**
     * Two replicas at once, and a third one when both are gone: it knows the caches at its start,
     * as the engines say again what they have said.
     */
    @Test
    void kv_routing_three_replicas(@TempDir Path folder) throws Exception {
        NatsServer nats = NatsServer.start(folder);
        open.add(nats);
        Map<String, String> there = new HashMap<>();
        there.put("warmpath.nats.servers", nats.url()); // NATS_SERVER
        there.put("warmpath.replica.max-age", "500ms"); // the machine may be busy
        SimTokenizer tokenizer = SimTokenizer.demo();
        open.add(tokenizer);
        for (int i = 0; i < 2; i++) {
            SimEngine engine = SimEngine.start(engine().build(), tokenizer);
            open.add(engine);
            there.put("warmpath.workers[" + i + "].url", engine.url().toString());
        }
        SimGateway one =
                replica(
                        there,
                        "python -m dynamo.frontend --router-mode kv --port 8000"
                                + " --router-replica-sync");
        SimGateway two =
                replica(
                        there,
                        "python -m dynamo.frontend --router-mode kv --port 8001"
                                + " --router-replica-sync");
        await().atMost(SOON).until(() -> counted(one) == 1 && counted(two) == 1);
        String worker = header(complete(one, ids(1, BLOCKS)), "x-warmpath-worker");
        await().atMost(SOON)
                .until(() -> best(two, ids(1, BLOCKS)).get("overlap_blocks").asInt() > 0);
        assertEquals(worker, best(two, ids(1, BLOCKS)).get("worker").asText());
        one.post(
                "/router/reservations",
                "{\"reservation_id\":\"r\",\"token_ids\":" + ids(5000, 4) + "}");
        await().atMost(SOON).until(() -> replicas(two).at("/data/0/open_bookings").asInt() == 1);
        one.delete("/router/reservations/r");
        await().atMost(SOON).until(() -> replicas(two).at("/data/0/open_bookings").asInt() == 0);
        one.close();
        two.close();
        SimGateway third =
                replica(
                        there,
                        "python -m dynamo.frontend --router-mode kv --port 8002"
                                + " --router-replica-sync");
        open.add(third::close);
        await().atMost(SOON)
                .until(() -> best(third, ids(1, BLOCKS)).get("overlap_blocks").asInt() > 0);
        assertEquals(worker, best(third, ids(1, BLOCKS)).get("worker").asText());
    }

    private static SimGateway replica(Map<String, String> there, String command) throws Exception {
        Map<String, String> settings = settings(command);
        assertTrue(settings.get("warmpath.http.port").startsWith("800"), command);
        settings.putAll(there);
        return SimGateway.start(settings);
    }

    private static JsonNode replicas(SimGateway gateway) throws Exception {
        return JSON.readTree(gateway.get("/replicas").body());
    }

    private static int counted(SimGateway gateway) throws Exception {
        int count = 0;
        for (JsonNode peer : replicas(gateway).get("data")) {
            count += peer.get("counted").asBoolean() ? 1 : 0;
        }
        return count;
    }

    // 002: the block cache tracker for vLLM

    @Test
    void block_cache_tracker_its_file() throws Exception {
        Map<String, String> settings =
                file(
                        """
                        # gateway config
                        routing:
                          policy: vllm_cache_aware
                          vllm_cache_aware:
                            block_size: 16
                            max_blocks_per_backend: 100000
                            eviction_interval_secs: 60
                            cache_threshold: 0.3
                            load_factor: 1.25
                        """);
        assertEquals("vllm_cache_aware", settings.get("warmpath.router.mode"));
        SimGateway gateway =
                start(
                        settings,
                        engine().wire(WireFormat.VLLM_MAP),
                        engine().wire(WireFormat.VLLM_MAP),
                        engine().wire(WireFormat.VLLM_MAP));
        for (int prompt = 1; prompt <= 3; prompt++) {
            String ids = ids(1000 * prompt, BLOCKS);
            String worker = header(complete(gateway, ids), "x-warmpath-worker");
            HttpResponse<String> again = complete(gateway, ids);
            assertEquals(worker, header(again, "x-warmpath-worker"));
            assertTrue(
                    header(again, "x-warmpath-reason").contains("cache hit"),
                    header(again, "x-warmpath-reason"));
        }
        assertTrue(
                gateway.get("/workers").body().contains("\"events_followed\":false"),
                "it goes by what it has sent");
    }

    // 003: agentic workloads, cache pinning

    private static Map<String, String> withModel(Map<String, String> settings) {
        settings.put(
                "warmpath.models.\"Qwen/Qwen3-14B-FP8\".path",
                "src/tokens/main/resources/demo-model");
        return settings;
    }

    private static SimOptions.Builder sglang(AgentFeatures features) {
        return engine().wire(WireFormat.SGLANG_MAP)
                .models(List.of("Qwen/Qwen3-14B-FP8"))
                .hostBlocks(512)
                .agents(features);
    }

    private static HttpResponse<String> chat(SimGateway gateway, String body) throws Exception {
        HttpResponse<String> answer =
                gateway.post("/v1/chat/completions", body, "x-warmpath-explain", "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    @Test
    void agents_cache_pinning() throws Exception {
        SimGateway gateway =
                start(
                        withModel(
                                settings(
                                        """
                                        python -m dynamo.frontend \\
                                          --router-mode kv \\
                                          --enable-cache-control
                                        """)),
                        sglang(AgentFeatures.NONE.withPins(0.1)),
                        sglang(AgentFeatures.NONE.withPins(0.1)));
        await().atMost(SOON)
                .until(
                        () ->
                                gateway.get("/workers").body().split("\"pins\":\"rpc\"", -1).length
                                        == 3);
        HttpResponse<String> answer =
                chat(
                        gateway,
                        """
                        {
                            "model": "Qwen/Qwen3-14B-FP8",
                            "messages": [
                                {"role": "system", "content": "You are a helpful assistant."},
                                {"role": "user", "content": "Explain quantum computing."}
                            ],
                            "nvext": {
                                "cache_control": {
                                    "type": "ephemeral",
                                    "ttl": "1h"
                                }
                            }
                        }
                        """);
        assertTrue(answer.body().contains("\"prompt_tokens\""), answer.body());
        await().atMost(SOON)
                .until(
                        () ->
                                gateway.meters
                                                .get("warmpath.pins")
                                                .tag("result", "ok")
                                                .counter()
                                                .count()
                                        == 1);
        assertTrue(
                gateway.engines.stream()
                                .mapToLong(e -> e.stats().sum(SimStats.RankStats::pinnedBlocks))
                                .sum()
                        > 0);
    }

    @Test
    void agents_hints() throws Exception {
        SimGateway gateway =
                start(
                        withModel(
                                settings(
                                        "python -m dynamo.frontend --router-mode kv"
                                                + " --router-queue-threshold 1"
                                                + " --router-track-output-blocks")),
                        sglang(AgentFeatures.NONE.withPriorityScheduling(true)));
        chat(
                gateway,
                """
                {"model": "Qwen/Qwen3-14B-FP8", "stream": true, "messages": [
                    {"role": "system", "content": "You are a coding assistant."},
                    {"role": "user", "content": "Write a Python function to parse CSV files."}],
                 "nvext": {"agent_hints": {"priority": 10, "latency_sensitivity": 2.0,
                    "speculative_prefill": true, "osl": 512}}}
                """);
    }

    // 004: agentic workloads, session control

    @Test
    void agents_session_control() throws Exception {
        SimGateway gateway =
                start(
                        withModel(
                                settings(
                                        """
                                        python -m dynamo.frontend \\
                                          --router-mode kv
                                        """)),
                        sglang(AgentFeatures.NONE.withStreamingSessions()),
                        sglang(AgentFeatures.NONE.withStreamingSessions()));
        HttpResponse<String> opened =
                chat(
                        gateway,
                        """
                        {
                            "model": "Qwen/Qwen3-14B-FP8",
                            "messages": [{"role": "user", "content": "Research every Federer Grand Slam final in exhaustive detail."}],
                            "nvext": {
                                "session_control": {
                                    "session_id": "sub-1",
                                    "action": "open",
                                    "timeout": 60
                                }
                            }
                        }
                        """);
        assertEquals("opened;streaming", header(opened, "x-warmpath-session"));
        HttpResponse<String> second =
                chat(
                        gateway,
                        """
                        {
                            "model": "Qwen/Qwen3-14B-FP8",
                            "messages": [{"role": "user", "content": "Now compare his Wimbledon 2007 final vs Nadal to any shot in human history."}],
                            "nvext": {
                                "session_control": {
                                    "session_id": "sub-1"
                                }
                            }
                        }
                        """);
        assertEquals("kept;streaming", header(second, "x-warmpath-session"));
        assertEquals(header(opened, "x-warmpath-worker"), header(second, "x-warmpath-worker"));
        HttpResponse<String> last =
                chat(
                        gateway,
                        """
                        {
                            "model": "Qwen/Qwen3-14B-FP8",
                            "messages": [{"role": "user", "content": "Write a 500-word love letter to Federer's single-handed backhand."}],
                            "nvext": {
                                "session_control": {
                                    "session_id": "sub-1",
                                    "action": "close"
                                }
                            }
                        }
                        """);
        assertEquals(header(opened, "x-warmpath-worker"), header(last, "x-warmpath-worker"));
        await().atMost(SOON).until(() -> sessions(gateway) == 0);
    }

    // The launch scripts of 003 and 004, and OpenCode's settings

    /** Runs the script with commands of the test's own; what it has given the gateway. */
    private static Map<String, String> launched(Path folder, String... args) throws Exception {
        Path engine = recorder(folder, "engine", "");
        // When the gateway ends the script stops the engine.
        Path gateway =
                recorder(
                        folder,
                        "gateway",
                        "while [ ! -f '"
                                + folder.resolve("engine.args")
                                + "' ]; do sleep 0.1; done\n");
        List<String> command = new ArrayList<>(List.of("sh", "src/examples/agents/agg_agent.sh"));
        command.addAll(List.of(args));
        ProcessBuilder script = new ProcessBuilder(command).inheritIO();
        script.environment().put("SGLANG", engine.toString());
        script.environment().put("WARMPATH", gateway.toString());
        assertEquals(0, script.start().waitFor());
        List<String> given = Files.readAllLines(folder.resolve("gateway.args"));
        assertEquals("serve", given.getFirst());
        return new HashMap<>(
                new CommandLine(SettingCatalog.read()).parse(given.subList(1, given.size())));
    }

    /** Writes its arguments down, each on a line, whole or not at all, and does what follows. */
    private static Path recorder(Path folder, String name, String then) throws Exception {
        Path args = folder.resolve(name + ".args");
        Path script = folder.resolve(name);
        Files.writeString(
                script,
                """
                #!/bin/sh
                printf '%%s\\n' "$@" >'%1$s.new'
                mv '%1$s.new' '%1$s'
                """
                                .formatted(args)
                        + then);
        assertTrue(script.toFile().setExecutable(true));
        return script;
    }

    @Test
    void the_launch_script_starts_an_engine_with_sessions_and_the_gateway_before_it(
            @TempDir Path folder) throws Exception {
        Map<String, String> settings = launched(folder);
        String engine = String.join(" ", Files.readAllLines(folder.resolve("engine.args")));
        assertTrue(engine.startsWith("--model-path zai-org/GLM-4.7-Flash --port 30000 "), engine);
        assertTrue(engine.contains("\"replay_endpoint\":\"tcp://*:32000\""), engine);
        assertTrue(
                engine.endsWith(
                        "--enable-streaming-session --tp 2 --tool-call-parser glm47"
                                + " --reasoning-parser glm45"),
                engine);
        assertEquals(
                Map.of(
                        "warmpath.router.mode",
                        "kv",
                        "warmpath.http.port",
                        "8000",
                        "warmpath.worker-urls",
                        "http://127.0.0.1:30000"),
                settings);
        complete(start(settings, engine()), ids(1, 1));
    }

    @Test
    void the_launch_script_keeps_prefixes_and_hands_sglang_its_flags(@TempDir Path folder)
            throws Exception {
        Map<String, String> settings =
                launched(
                        folder, "--tp", "1", "--pins", "--model-path", "/models/a b", "--x", "y z");
        List<String> engine = Files.readAllLines(folder.resolve("engine.args"));
        assertEquals("/models/a b", engine.get(1));
        assertTrue(engine.contains("--enable-hierarchical-cache"), engine::toString);
        assertEquals(
                List.of("--tp", "1", "--x", "y z"),
                engine.subList(engine.size() - 4, engine.size()));
        assertEquals("true", settings.get("warmpath.session.pins.enabled"));
    }

    @Test
    void opencode_finds_the_gateway_and_the_scripts_model() throws Exception {
        JsonNode settings =
                JSON.copy()
                        .enable(JsonParser.Feature.ALLOW_COMMENTS)
                        .readTree(Path.of("src/examples/opencode/opencode.jsonc").toFile())
                        .at("/provider/dynamo");
        assertEquals("http://localhost:8000/v1", settings.at("/options/baseURL").asText());
        JsonNode model = settings.get("models").get("zai-org/GLM-4.7-Flash");
        assertEquals("zai-org/GLM-4.7-Flash", model.get("id").asText());
        assertTrue(model.get("tool_call").asBoolean());
    }

    private static double sessions(SimGateway gateway) throws Exception {
        double open = 0;
        for (SimEngine engine : gateway.engines) {
            open += SessionTurns.onEngine(engine, "sglang:num_streaming_sessions");
        }
        return open;
    }
}
