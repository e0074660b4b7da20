package io.warmpath.gateway.answer;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.request.GatewayJson;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * An engine's answer that is no stream, to a client who reads one already: gathered to be said in
 * an event. One thread.
 */
final class EngineRefusal {
    private static final int MAX_TEXT = 2_000;

    private final int status;
    private final int limit;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    /** {@code limit}: bytes that are looked at. */
    EngineRefusal(int status, int limit) {
        this.status = status;
        this.limit = limit;
    }

    void add(byte[] b, int from, int length) {
        body.write(b, from, Math.min(length, limit - body.size()));
    }

    GatewayError error() {
        return new GatewayError.EngineRefused(status < 400 ? 502 : status, reason());
    }

    /** The engine's own message; whatever it has sent when it is not as engines write errors. */
    private String reason() {
        String text = body.toString(StandardCharsets.UTF_8).strip();
        JsonNode json = GatewayJson.tree(text);
        JsonNode message =
                (json.path("error").isObject() ? json.path("error") : json).path("message");
        if (message.isTextual()) {
            text = message.textValue();
        }
        if (text.isEmpty() || status < 400) {
            return "The engine answered " + status + " and no stream.";
        }
        return text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "..." : text;
    }
}
