package io.warmpath.gateway.request;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.UncheckedIOException;

/**
 * JSON that the gateway exchanges with engines: small documents as trees, and pieces that are
 * written by hand, so that no number of 100,000 ids is boxed. Stateless.
 */
public final class GatewayJson {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private GatewayJson() {}

    /** One whole document; a {@link MissingNode} where the text is no JSON. */
    public static JsonNode tree(String json) {
        try {
            return MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    public static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    /** In UTF-8, on one line. {@code value}: a tree, or maps, lists and plain values. */
    public static byte[] bytes(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e); // half of a surrogate pair
        }
    }

    public static void array(int[] numbers, StringBuilder to) {
        to.append('[');
        for (int i = 0; i < numbers.length; i++) {
            if (i > 0) {
                to.append(',');
            }
            to.append(numbers[i]);
        }
        to.append(']');
    }

    public static String quoted(String text) {
        StringBuilder out = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c)) {
                // A lone surrogate has no UTF-8 form; as an escape it survives.
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
