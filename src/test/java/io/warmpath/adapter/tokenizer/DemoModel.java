package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Consumer;

/** The demo model's files, and changed copies of them. */
public final class DemoModel {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private DemoModel() {}

    /** As the tree has them, whatever they are packed into; tests run at the root. */
    public static Path directory() {
        return Path.of("src/tokens/main/resources/demo-model");
    }

    public static String json() {
        try {
            return Files.readString(directory().resolve("tokenizer.json"));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The demo model's tokenizer.json after a change. */
    public static String json(Consumer<ObjectNode> change) {
        try {
            ObjectNode root = (ObjectNode) MAPPER.readTree(json());
            change.accept(root);
            return MAPPER.writeValueAsString(root);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public static JsonNode tree(String json) {
        try {
            return MAPPER.readTree(json);
        } catch (IOException e) {
            throw new IllegalArgumentException(json, e);
        }
    }

    public static JsonNode resource(String name) {
        try (InputStream in =
                Objects.requireNonNull(DemoModel.class.getResourceAsStream(name), name)) {
            return MAPPER.readTree(in);
        } catch (IOException e) {
            throw new IllegalStateException(name, e);
        }
    }
}
