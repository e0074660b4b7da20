package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Recordings of a real SGLang, played to the whole gateway: what it predicts of each request before
 * it is sent is what the engine reported.
 */
class RecordedEngineTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, String> answers = new ConcurrentHashMap<>();

    @ParameterizedTest
    @ValueSource(strings = {"sglang-0.5.23-pages-p64", "sglang-0.5.23-bigrams-p16"})
    void predicted_is_what_the_engine_reported(String recording) throws Exception {
        List<JsonNode> lines = lines("/captures/" + recording + ".jsonl");
        JsonNode meta = lines.getFirst();
        Map<String, JsonNode> responses = new HashMap<>();
        lines.forEach(
                l -> {
                    if (l.path("k").asText().equals("response")) {
                        responses.put(l.path("id").asText(), l);
                    }
                });
        HttpServer engine =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        SimGateway gateway = null;
        try (ZContext sockets = new ZContext()) {
            ZMQ.Socket events = sockets.createSocket(SocketType.XPUB);
            int port = events.bindToRandomPort("tcp://127.0.0.1");
            answers.put("/server_info", serverInfo(meta, port));
            answers.put("/v1/models", text("/engines/sglang-models.json"));
            answers.put("/ready", "{}");
            serve(engine);
            gateway =
                    SimGateway.start(
                            Map.of(
                                    "warmpath.workers[0].url",
                                    "http://127.0.0.1:" + engine.getAddress().getPort()));
            events.recv(); // somebody has subscribed
            int compared = 0;
            for (JsonNode line : lines) {
                switch (line.path("k").asText()) {
                    case "event" -> publish(events, line.path("frames"), gateway);
                    case "request" -> {
                        String id = line.path("id").asText();
                        ask(gateway, line, Objects.requireNonNull(responses.get(id), id));
                        compared++;
                    }
                    default -> {}
                }
            }
            assertTrue(compared > 50, compared + " requests");
        } finally {
            if (gateway != null) {
                gateway.close();
            }
            engine.stop(0);
        }
    }

    private void serve(HttpServer engine) {
        engine.createContext(
                "/",
                call -> {
                    call.getRequestBody().readAllBytes();
                    String said = answers.get(call.getRequestURI().getPath());
                    byte[] body = String.valueOf(said).getBytes(StandardCharsets.UTF_8);
                    call.getResponseHeaders().add("content-type", "application/json");
                    call.sendResponseHeaders(said == null ? 404 : 200, body.length);
                    call.getResponseBody().write(body);
                    call.close();
                });
        engine.start();
    }

    /** What a real one said, with what the recorded one had been started with. */
    private static String serverInfo(JsonNode meta, int port) throws IOException {
        ObjectNode info = (ObjectNode) JSON.readTree(text("/engines/sglang-server_info.json"));
        int page = meta.path("block_size").asInt();
        info.put("page_size", page);
        if (meta.path("bigrams").asBoolean()) {
            info.put("speculative_algorithm", "EAGLE");
        }
        ObjectNode sockets = (ObjectNode) info.path("kv_events");
        sockets.put("block_size", page).put("endpoint_port_base", port).put("topic", "kv");
        sockets.remove("replay_endpoint_port_base");
        return info.toString();
    }

    private static void publish(ZMQ.Socket events, JsonNode frames, SimGateway gateway) {
        for (int i = 0; i < frames.size(); i++) {
            byte[] frame = HexFormat.of().parseHex(frames.get(i).asText());
            events.send(frame, i < frames.size() - 1 ? ZMQ.SNDMORE : 0);
        }
        String sequence = Long.toString(Long.parseLong(frames.get(1).asText(), 16));
        await().until(
                        () ->
                                JSON.readTree(gateway.get("/events/sources").body())
                                        .findValuesAsText("sequence")
                                        .equals(List.of(sequence)));
    }

    private void ask(SimGateway gateway, JsonNode request, JsonNode response) throws Exception {
        int prompt = response.path("prompt_tokens").asInt();
        int cached = response.path("cached_tokens").asInt();
        answers.put(
                "/v1/completions",
                """
                {"id":"c","object":"text_completion","created":0,"model":"tiny",
                "choices":[{"index":0,"text":"a","finish_reason":"length"}],
                "usage":{"prompt_tokens":%d,"completion_tokens":2,"total_tokens":%d,
                "prompt_tokens_details":{"cached_tokens":%d}}}
                """
                        .formatted(prompt, prompt + 2, cached));
        ObjectNode body = JSON.createObjectNode().put("model", "tiny").put("max_tokens", 2);
        body.set("prompt", request.path("prompt_ids"));
        JsonNode salt = request.path("body").path("cache_salt");
        if (salt.isTextual()) {
            body.set("cache_salt", salt);
        }
        HttpResponse<String> answer =
                gateway.post("/v1/completions", body.toString(), "x-warmpath-explain", "1");
        assertEquals(200, answer.statusCode(), answer.body());
        assertEquals(
                Integer.toString(cached),
                answer.headers().firstValue("x-warmpath-predicted-cached-tokens").orElse("none"),
                () -> request.path("id") + " " + request.path("step"));
    }

    private static List<JsonNode> lines(String resource) throws IOException {
        return text(resource)
                .lines()
                .map(
                        line -> {
                            try {
                                return JSON.readTree(line);
                            } catch (IOException e) {
                                throw new IllegalStateException(e);
                            }
                        })
                .toList();
    }

    private static String text(String resource) throws IOException {
        try (InputStream in = RecordedEngineTest.class.getResourceAsStream(resource)) {
            return new String(
                    Objects.requireNonNull(in, resource).readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
