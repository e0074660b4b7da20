package io.warmpath.api;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.InferenceRequest;
import io.warmpath.gateway.Span;
import io.warmpath.net.HeapBytes;
import java.io.IOException;
import java.util.regex.Pattern;

/**
 * Reads what routing needs out of a request body, in one pass over its bytes.
 *
 * <p>A body of the usual shape is read by {@link QuickReader}, every other one by {@link
 * JacksonReader}; both read the same out of the same bytes. Unknown members are stepped over: the
 * bytes are sent on, so they survive. Any thread.
 */
final class RequestParser {
    /** Which API the body belongs to. */
    enum Endpoint {
        CHAT,
        COMPLETIONS,
        /** Passed on as {@link #OTHER}, to where its input is cached. */
        RESPONSES,
        /** Only its model is looked at; any of the engines' other APIs. */
        OTHER
    }

    /** Jackson's note on where its input came from; says nothing to a client. */
    private static final Pattern SOURCE_NOTE =
            Pattern.compile("\\[Source: .*?(?=line: \\d)|(?<=column: \\d{1,10})\\]");

    private RequestParser() {}

    /**
     * @param texts false: nobody will look at a chat's texts, unless they are to be explained
     * @throws GatewayException BadRequest, with the position for bad JSON and the member's name for
     *     a bad value
     */
    static InferenceRequest parse(
            Endpoint endpoint,
            String requestId,
            String target,
            MultiMap headers,
            Buffer body,
            boolean explain,
            boolean texts) {
        HeapBytes bytes = HeapBytes.of(body);
        if (endpoint == Endpoint.OTHER && FormModel.isForm(headers)) {
            RequestFields form = new RequestFields();
            Span model = FormModel.find(headers, bytes);
            if (model != null) {
                form.modelSpan = model;
                form.model = body.getString(model.start(), model.end());
            }
            return form.request(endpoint, requestId, target, headers, body, explain);
        }
        RequestFields fields = QuickReader.read(endpoint, bytes, texts || explain);
        if (fields == null) {
            fields = slowly(endpoint, bytes);
        }
        return fields.request(endpoint, requestId, target, headers, body, explain);
    }

    /** Reads any body; the only one that refuses one. */
    static RequestFields slowly(Endpoint endpoint, HeapBytes bytes) {
        rejectOtherEncodings(bytes);
        try {
            return JacksonReader.read(endpoint, bytes.array(), bytes.offset(), bytes.length());
        } catch (JsonProcessingException e) {
            throw notJson(e);
        } catch (IOException e) {
            // Reading from memory; what is left is bytes that are not UTF-8.
            throw bad("", "The request body is not valid UTF-8: " + e.getMessage() + ".");
        }
    }

    static String but(JsonToken value) {
        return switch (value) {
            case VALUE_STRING -> ", but it is a string.";
            case VALUE_NUMBER_INT -> ", but it is a number.";
            case VALUE_NUMBER_FLOAT -> ", but it is a number with a fraction.";
            case VALUE_TRUE, VALUE_FALSE -> ", but it is a boolean.";
            case START_ARRAY -> ", but it is an array.";
            case START_OBJECT -> ", but it is an object.";
            default -> ", but it is null.";
        };
    }

    static GatewayException bad(String param, String message) {
        return new GatewayException(new GatewayError.BadRequest(param, message));
    }

    static GatewayException notJson(JsonProcessingException e) {
        String what = e.getOriginalMessage();
        if (what == null) {
            what = "unreadable";
        }
        what = SOURCE_NOTE.matcher(what).replaceAll("");
        if (what.length() > 200) {
            what = what.substring(0, 200) + "...";
        }
        JsonLocation at = e.getLocation();
        return bad(
                "",
                "The request body is not valid JSON: "
                        + what.strip()
                        + (at == null
                                ? ""
                                : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")")
                        + ".");
    }

    /**
     * Jackson would read UTF-16 and UTF-32 too, and then the offsets were not those of the bytes.
     */
    static void rejectOtherEncodings(HeapBytes b) {
        boolean other =
                b.length() >= 2
                        && (b.array()[b.offset()] == 0
                                || b.array()[b.offset() + 1] == 0
                                || (b.array()[b.offset()] & 0xff) >= 0xfe);
        if (isCompressed(b)) {
            throw bad(
                    "",
                    "The request body is compressed; it must be sent without Content-Encoding.");
        }
        if (other) {
            throw bad("", "The request body must be UTF-8.");
        }
    }

    /** It begins as gzip (RFC 1952) or Zstandard (RFC 8878) do; the others have no such mark. */
    private static boolean isCompressed(HeapBytes b) {
        if (b.length() < 4) {
            return false;
        }
        byte[] a = b.array();
        int at = b.offset();
        boolean gzip = a[at] == 0x1f && a[at + 1] == (byte) 0x8b;
        boolean zstd =
                a[at] == 0x28
                        && a[at + 1] == (byte) 0xb5
                        && a[at + 2] == 0x2f
                        && a[at + 3] == (byte) 0xfd;
        return gzip || zstd;
    }
}
