package io.warmpath.api.error;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.fault.GatewayError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.BiConsumer;

/**
 * {@link GatewayError} to what a client of OpenAI's API understands. The only place that does it;
 * {@code messages.MessagesErrors} does so for Anthropic's. {@code
 * {"error":{"message":..,"type":..,"param":null,"code":..}}}; any thread.
 */
public final class ErrorMapper {
    private static final JsonFactory JSON = new JsonFactory();

    private ErrorMapper() {}

    /** Answers with the error, unless the answer has begun or the client has gone. */
    public static void respond(HttpServerResponse response, GatewayError error, String requestId) {
        respond(response, error, requestId, body(error));
    }

    /** As the other, with a body of one's own. */
    public static void respond(
            HttpServerResponse response, GatewayError error, String requestId, Buffer body) {
        if (response.headWritten() || response.closed() || response.ended()) {
            return;
        }
        response.setStatusCode(error.httpStatus());
        headers(error, requestId, response::putHeader);
        response.end(body);
    }

    /** What the answer with the error says in its head, beside status and length. */
    public static void headers(
            GatewayError error, String requestId, BiConsumer<String, String> to) {
        to.accept("content-type", "application/json");
        to.accept(RequestIds.HEADER, requestId);
        long seconds = Math.ceilDiv(error.retryAfter().toMillis(), 1000L);
        if (seconds > 0) {
            to.accept("retry-after", Long.toString(seconds));
        }
        if (error instanceof GatewayError.MethodNotAllowed m) {
            to.accept("allow", m.allowed());
        }
        if (error instanceof GatewayError.Unauthorized) {
            to.accept("www-authenticate", "Bearer");
        }
    }

    /** The error as the last event of a stream. */
    public static byte[] event(GatewayError error) {
        return Buffer.buffer("data: ").appendBuffer(body(error)).appendString("\n\n").getBytes();
    }

    /** The error as JSON, on one line. */
    public static Buffer body(GatewayError error) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        try (JsonGenerator json = JSON.createGenerator(bytes)) {
            json.writeStartObject();
            json.writeObjectFieldStart("error");
            json.writeStringField("message", error.message());
            json.writeStringField("type", error.type());
            if (error instanceof GatewayError.BadRequest bad && !bad.param().isEmpty()) {
                json.writeStringField("param", bad.param());
            } else {
                json.writeNullField("param");
            }
            json.writeStringField("code", error.code());
            json.writeEndObject();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException("writing to memory", e);
        }
        return Buffer.buffer(bytes.toByteArray());
    }
}
