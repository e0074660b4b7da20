package io.warmpath.api.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerationException;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * JSON as maps, lists and values, for what is written anew. Members keep their order; one that is
 * given twice counts with its last value.
 */
public final class JsonTree {
    private static final JsonFactory JSON = new JsonFactory();
    private static final JsonFactory ASCII =
            JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    /** A value that is written as it is. */
    public record Raw(String json) {}

    /** What numbers with a fraction become. */
    public enum Fractions {
        /** {@link BigDecimal}: all their digits, to be written again. */
        EXACT,
        /** {@link Double}, as Python reads them. */
        DOUBLE
    }

    private JsonTree() {}

    /** One whole document. Throws {@link IOException} when it is not JSON, or not an object. */
    public static Map<String, @Nullable Object> object(byte[] b, int from, int length)
            throws IOException {
        try (JsonParser json = JsonInput.parser(b, from, length)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("not a JSON object");
            }
            Map<String, @Nullable Object> read = object(json, Fractions.EXACT);
            if (json.nextToken() != null) {
                throw new IOException("something behind the JSON object");
            }
            return read;
        }
    }

    /** The current token is the object's start; as deep as the parser goes. */
    public static Map<String, @Nullable Object> object(JsonParser json, Fractions fractions)
            throws IOException {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            members.put(name, value(json, json.nextToken(), fractions));
        }
        return members;
    }

    /** The value whose first token is the current one. */
    public static @Nullable Object value(
            JsonParser json, @Nullable JsonToken token, Fractions fractions) throws IOException {
        return switch (token) {
            case START_OBJECT -> object(json, fractions);
            case START_ARRAY -> array(json, fractions);
            case VALUE_STRING -> json.getText();
            case VALUE_NUMBER_INT -> json.getNumberValue();
            case VALUE_NUMBER_FLOAT ->
                    switch (fractions) {
                        case EXACT -> json.getDecimalValue();
                        case DOUBLE -> (Object) json.getDoubleValue();
                    };
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            case null, default -> throw new IOException("unexpected end of input");
        };
    }

    /** The current token is the array's start. */
    public static List<@Nullable Object> array(JsonParser json, Fractions fractions)
            throws IOException {
        List<@Nullable Object> items = new ArrayList<>();
        for (JsonToken t = json.nextToken(); t != JsonToken.END_ARRAY; t = json.nextToken()) {
            items.add(value(json, t, fractions));
        }
        return items;
    }

    /** Of UTF-8; what is none becomes U+FFFD. */
    public static String text(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8);
    }

    /** UTF-8, on one line. */
    public static byte[] bytes(@Nullable Object value) {
        try {
            return bytes(value, false);
        } catch (JsonGenerationException e) {
            // Half of a surrogate pair has no UTF-8 form; as an escape it survives.
            try {
                return bytes(value, true);
            } catch (IOException again) {
                throw new UncheckedIOException(again);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e); // into memory
        }
    }

    private static byte[] bytes(@Nullable Object value, boolean escaped) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream(512);
        try (JsonGenerator json = (escaped ? ASCII : JSON).createGenerator(out)) {
            json.configure(JsonGenerator.Feature.AUTO_CLOSE_JSON_CONTENT, false);
            write(json, value);
        }
        return out.toByteArray();
    }

    private static void write(JsonGenerator json, @Nullable Object value) throws IOException {
        switch (value) {
            case null -> json.writeNull();
            case String text -> json.writeString(text);
            case Boolean flag -> json.writeBoolean(flag);
            case Integer number -> json.writeNumber(number);
            case Long number -> json.writeNumber(number);
            case BigInteger number -> json.writeNumber(number);
            case BigDecimal number -> json.writeNumber(number);
            case Raw raw -> json.writeRawValue(raw.json());
            case Map<?, ?> members -> {
                json.writeStartObject();
                for (Map.Entry<?, ?> member : members.entrySet()) {
                    json.writeFieldName(String.valueOf(member.getKey()));
                    write(json, member.getValue());
                }
                json.writeEndObject();
            }
            case List<?> items -> {
                json.writeStartArray();
                for (Object item : items) {
                    write(json, item);
                }
                json.writeEndArray();
            }
            default -> throw new IllegalArgumentException("a " + value.getClass());
        }
    }
}
