package io.warmpath.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whole JSON documents: one value, no name twice. */
final class JsonFile {
    private static final ObjectReader JSON =
            JsonMapper.builder()
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build()
                    .readerFor(JsonNode.class);

    private JsonFile() {}

    static JsonNode read(Path file) throws AuditException {
        try {
            return parse(file.toString(), Files.readAllBytes(file));
        } catch (IOException e) {
            throw new AuditException("cannot be read: " + e);
        }
    }

    /** {@code name}: for messages. */
    static JsonNode parse(String name, byte[] document) throws AuditException {
        try {
            return JSON.readTree(document);
        } catch (JsonProcessingException e) {
            throw new AuditException(name + ": no JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new AuditException(name + ": " + e);
        }
    }

    /** Returns the text. Throws {@link AuditException} when there is none, or an empty one. */
    static String text(String name, JsonNode object, String member) throws AuditException {
        JsonNode value = object.path(member);
        if (!value.isTextual() || value.textValue().isBlank()) {
            throw new AuditException(name + ": no text `" + member + "`");
        }
        return value.textValue();
    }
}
