package io.warmpath.sim;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Files under src/test/resources. */
public final class TestVectors {
    private static final ObjectMapper JSON =
            new ObjectMapper().enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS);

    private TestVectors() {}

    public static String text(String name) {
        try (@Nullable InputStream in =
                TestVectors.class.getClassLoader().getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalArgumentException("no test resource " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(name, e);
        }
    }

    public static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(text, e);
        }
    }

    public static JsonNode file(String name) {
        return json(text(name));
    }

    public static List<JsonNode> lines(String name) {
        return text(name).lines().map(TestVectors::json).toList();
    }

    public static int[] tokens(JsonNode list) {
        int[] tokens = new int[list.size()];
        for (int i = 0; i < tokens.length; i++) {
            JsonNode id = list.get(i);
            tokens[i] = (int) (id.isTextual() ? Long.parseLong(id.asText()) : id.longValue());
        }
        return tokens;
    }
}
