package io.warmpath.api.messages;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.json.JsonTree;
import io.warmpath.fault.GatewayError;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Errors as clients of Anthropic's API understand them: {@code {"type":"error","error":{"type":..,
 * "message":..},"request_id":..}}. Status codes are the same as in OpenAI's API. Any thread.
 */
public final class MessagesErrors {
    /** Anthropic's clients show it; the other header is everyone's. */
    public static final String REQUEST_ID = "request-id";

    private MessagesErrors() {}

    public static void respond(HttpServerResponse response, GatewayError error, String requestId) {
        if (!response.headWritten() && !response.closed() && !response.ended()) {
            response.putHeader(REQUEST_ID, requestId);
            ErrorMapper.respond(response, error, requestId, Buffer.buffer(body(error, requestId)));
        }
    }

    public static byte[] body(GatewayError error, String requestId) {
        String message =
                error instanceof GatewayError.BadRequest bad && !bad.param().isEmpty()
                        ? bad.param() + ": " + bad.message()
                        : error.message();
        return body(type(error.httpStatus()), message, requestId);
    }

    static byte[] body(String type, String message, String requestId) {
        Map<String, @Nullable Object> what = new LinkedHashMap<>();
        what.put("type", type);
        what.put("message", message);
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("type", "error");
        all.put("error", what);
        all.put("request_id", requestId);
        return JsonTree.bytes(all);
    }

    /** The error as the last event of a stream. */
    static byte[] event(byte[] body) {
        return Buffer.buffer("event: error\ndata: ")
                .appendBytes(body)
                .appendBytes("\n\n".getBytes(StandardCharsets.US_ASCII))
                .getBytes();
    }

    static String type(int status) {
        return switch (status) {
            case 401 -> "authentication_error";
            case 403 -> "permission_error";
            case 404 -> "not_found_error";
            case 413 -> "request_too_large";
            case 429 -> "rate_limit_error";
            case 503, 529 -> "overloaded_error";
            case 504 -> "timeout_error";
            default -> status < 500 ? "invalid_request_error" : "api_error";
        };
    }
}
