package io.warmpath.gateway.answer;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.warmpath.fault.GatewayError;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * An engine's answer that is no stream, to a client who reads one already: gathered to be said in
 * an event. One thread.
 */
public final class EngineRefusal {
    private static final int MAX_TEXT = 2_000;

    private final int status;
    private final int limit;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    /**
     * @param limit bytes that are looked at
     */
    public EngineRefusal(int status, int limit) {
        this.status = status;
        this.limit = limit;
    }

    public void add(byte[] b, int from, int length) {
        body.write(b, from, Math.min(length, limit - body.size()));
    }

    public GatewayError error() {
        return new GatewayError.EngineRefused(status < 400 ? 502 : status, reason());
    }

    /** The engine's own message; whatever it has sent when it is not as engines write errors. */
    private String reason() {
        String text = body.toString(StandardCharsets.UTF_8).strip();
        try {
            JsonObject json = new JsonObject(text);
            if (json.getValue("error") instanceof JsonObject error) {
                json = error;
            }
            if (json.getValue("message") instanceof String message) {
                text = message;
            }
        } catch (DecodeException e) {
            // Not JSON: the text itself.
        }
        if (text.isEmpty() || status < 400) {
            return "The engine answered " + status + " and no stream.";
        }
        return text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "..." : text;
    }
}
