package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.sim.SimEngine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Turns of sessions that a client opens and closes, as that client sends and sees them. */
final class SessionTurns {
    private static final ObjectMapper JSON = new ObjectMapper();

    private SessionTurns() {}

    static ObjectNode message(String role, String content) {
        return JSON.createObjectNode().put("role", role).put("content", content);
    }

    static ArrayNode messages(Object... all) {
        ArrayNode out = JSON.createArrayNode();
        for (Object m : all) {
            out.add(m instanceof JsonNode n ? n : message("user", (String) m));
        }
        return out;
    }

    /** One turn as a client sees it. */
    record Said(HttpResponse<String> http, JsonNode message, int prompt, int cached) {
        String session() {
            return http.headers().firstValue("x-warmpath-session").orElse("-");
        }

        String worker() {
            return http.headers().firstValue("x-warmpath-worker").orElse("-");
        }
    }

    /**
     * @param session empty: of none
     * @param action empty: a further turn
     */
    static Said turn(
            SimGateway gateway,
            boolean stream,
            String session,
            String action,
            ArrayNode messages,
            String tenant)
            throws Exception {
        return turn(gateway, stream, session, action, messages, tenant, 0);
    }

    /**
     * @param timeoutSeconds 0: none given
     */
    static Said turn(
            SimGateway gateway,
            boolean stream,
            String session,
            String action,
            ArrayNode messages,
            String tenant,
            int timeoutSeconds)
            throws Exception {
        ObjectNode body = JSON.createObjectNode().put("model", "demo").put("stream", stream);
        body.put("max_tokens", 24).put("temperature", 0).set("messages", messages);
        if (stream) {
            body.putObject("stream_options").put("include_usage", true);
        }
        if (!session.isEmpty()) {
            ObjectNode control = body.putObject("nvext").putObject("session_control");
            control.put("session_id", session);
            if (!action.isEmpty()) {
                control.put("action", action);
            }
            if (timeoutSeconds > 0) {
                control.put("timeout", timeoutSeconds);
            }
        }
        HttpResponse<String> http =
                gateway.post(
                        "/v1/chat/completions",
                        body.toString(),
                        "x-warmpath-explain",
                        "1",
                        "x-tenant-id",
                        tenant);
        if (http.statusCode() != 200) {
            return new Said(http, JSON.readTree(http.body()), 0, 0);
        }
        return stream ? streamed(http) : whole(http, JSON.readTree(http.body()));
    }

    private static Said whole(HttpResponse<String> http, JsonNode answer) {
        assertEquals("chat.completion", answer.path("object").asText(), http::body);
        JsonNode usage = answer.path("usage");
        return new Said(
                http,
                answer.at("/choices/0/message"),
                usage.path("prompt_tokens").asInt(),
                usage.at("/prompt_tokens_details/cached_tokens").asInt());
    }

    private static Said streamed(HttpResponse<String> http) throws IOException {
        StringBuilder text = new StringBuilder();
        JsonNode usage = JSON.createObjectNode();
        for (String line : http.body().lines().filter(l -> l.startsWith("data: {")).toList()) {
            JsonNode chunk = JSON.readTree(line.substring(6));
            assertEquals("chat.completion.chunk", chunk.path("object").asText(), line);
            text.append(chunk.at("/choices/0/delta/content").asText(""));
            usage = chunk.hasNonNull("usage") ? chunk.get("usage") : usage;
        }
        assertTrue(http.body().endsWith("data: [DONE]\n\n"), http::body);
        return new Said(
                http,
                message("assistant", text.toString()),
                usage.path("prompt_tokens").asInt(),
                usage.at("/prompt_tokens_details/cached_tokens").asInt());
    }

    /** The sum of one of the engine's own metrics over its ranks. */
    static double onEngine(SimEngine engine, String metric) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI at = engine.url().resolve("/metrics");
            return client.send(
                            HttpRequest.newBuilder(at).build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body()
                    .lines()
                    .filter(l -> l.startsWith(metric + "{"))
                    .mapToDouble(l -> Double.parseDouble(l.substring(l.lastIndexOf(' ') + 1)))
                    .sum();
        }
    }
}
