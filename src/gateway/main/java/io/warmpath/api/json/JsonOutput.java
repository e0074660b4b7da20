package io.warmpath.api.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** One JSON object, written member by member. Any thread. */
public final class JsonOutput {
    private static final JsonFactory JSON = new JsonFactory();

    private JsonOutput() {}

    /** Writes the members of the object. */
    public interface Members {
        void write(JsonGenerator json) throws IOException;
    }

    /** UTF-8, on one line. */
    public static Buffer object(Members members) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
        try (JsonGenerator json = JSON.createGenerator(bytes)) {
            json.writeStartObject();
            members.write(json);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // writing to memory does not fail
        }
        return Buffer.buffer(bytes.toByteArray());
    }
}
