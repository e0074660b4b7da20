package io.warmpath.api.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
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

    public static JsonParser parser(byte[] array, int offset, int length) throws IOException {
        return JSON.createParser(array, offset, length);
    }
}
