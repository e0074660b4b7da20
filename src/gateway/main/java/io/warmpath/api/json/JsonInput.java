package io.warmpath.api.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.fault.GatewayException;
import io.warmpath.net.HeapBytes;
import java.io.IOException;

/** The one parser for JSON of clients and engines. Any thread. */
public final class JsonInput {
    private static final JsonFactory JSON =
            JsonFactory.builder()
                    // Names come from clients: they must not fill a table that never shrinks.
                    .configure(JsonFactory.Feature.INTERN_FIELD_NAMES, false)
                    .configure(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW, false)
                    // The body's size has its own limit.
                    .streamReadConstraints(
                            StreamReadConstraints.builder()
                                    .maxStringLength(Integer.MAX_VALUE)
                                    .build())
                    .build();

    private JsonInput() {}

    /** Reads one request's body. */
    public interface Body<T> {
        T read(JsonParser json) throws IOException;
    }

    /**
     * @throws GatewayException BadRequest: the bytes are not JSON in UTF-8
     */
    public static <T> T body(HeapBytes bytes, Body<T> body) {
        InvalidRequest.rejectOtherEncodings(bytes);
        try (JsonParser json = parser(bytes.array(), bytes.offset(), bytes.length())) {
            return body.read(json);
        } catch (JsonProcessingException e) {
            throw InvalidRequest.notJson(e);
        } catch (IOException e) {
            // Reading from memory; what is left is bytes that are not UTF-8.
            throw InvalidRequest.bad(
                    "", "The request body is not valid UTF-8: " + e.getMessage() + ".");
        }
    }

    public static JsonParser parser(byte[] array, int offset, int length) throws IOException {
        return JSON.createParser(array, offset, length);
    }
}
