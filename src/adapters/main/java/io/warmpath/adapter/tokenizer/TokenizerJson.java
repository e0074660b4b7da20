package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.tokens.text.AddedTokens;
import io.warmpath.tokens.text.TextTokenizer;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What Warmpath itself has to know of a {@code tokenizer.json}: everything but the vocabulary.
 * Immutable.
 */
final class TokenizerJson {
    /** Steps that see one piece of text and nothing around it, and so do not look across tokens. */
    private static final Set<String> LOCAL_NORMALIZERS =
            Set.of("Sequence", "NFC", "NFD", "NFKC", "NFKD", "Lowercase");

    private static final Set<String> LOCAL_PRE_TOKENIZERS =
            Set.of("Sequence", "ByteLevel", "Split", "Digits", "Punctuation", "WhitespaceSplit");

    private final ObjectNode head;
    private final boolean randomMerges;

    private TokenizerJson(ObjectNode head, boolean randomMerges) {
        this.head = head;
        this.randomMerges = randomMerges;
    }

    static TokenizerJson parse(String json, ObjectMapper mapper) throws IOException {
        ObjectNode head = JsonNodeFactory.instance.objectNode();
        boolean dropout = false;
        try (JsonParser parser = mapper.createParser(json)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("not a JSON object");
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String field = parser.currentName();
                parser.nextToken();
                if (field.equals("model")) {
                    dropout = hasDropout(parser);
                } else {
                    head.set(field, mapper.readTree(parser));
                }
            }
        }
        return new TokenizerJson(head, dropout);
    }

    /** Skips the vocabulary and merges, which are most of the file. */
    private static boolean hasDropout(JsonParser parser) throws IOException {
        boolean dropout = false;
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw new IOException("\"model\" is not a JSON object");
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            boolean dropoutField = parser.currentName().equals("dropout");
            JsonToken value = parser.nextToken();
            dropout |= dropoutField && value.isNumeric() && parser.getDoubleValue() > 0;
            parser.skipChildren();
        }
        return dropout;
    }

    /** Everything but the model. */
    JsonNode head() {
        return head;
    }

    JsonNode addedTokens() {
        return head.path("added_tokens");
    }

    boolean hasAddedToken(String content) {
        for (JsonNode token : addedTokens()) {
            if (token.path("content").asText().equals(content)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The added tokens at which a text can be cut, when {@link #whyNotSplit} has no objection.
     * Tokens marked {@code normalized} are looked for after the normaliser, inside the pieces, so
     * they do not take part.
     */
    AddedTokens splitOn() {
        return new AddedTokens(idsByContent());
    }

    private Map<String, Integer> idsByContent() {
        Map<String, Integer> ids = new LinkedHashMap<>();
        for (JsonNode token : addedTokens()) {
            if (!token.path("normalized").asBoolean()) {
                ids.put(token.path("content").asText(), token.path("id").asInt());
            }
        }
        return ids;
    }

    /** The setting that makes the ids of a piece depend on its neighbours; empty when none does. */
    String whyNotSplit(TextTokenizer tokenizer) {
        for (JsonNode token : addedTokens()) {
            if (token.path("normalized").asBoolean()) {
                continue;
            }
            for (String flag : new String[] {"lstrip", "rstrip", "single_word"}) {
                if (token.path(flag).asBoolean()) {
                    return flag + " of the added token " + token.path("content").asText();
                }
            }
        }
        if (randomMerges) {
            return "dropout of the model";
        }
        Set<String> steps = new TreeSet<>();
        collectTypes(head.path("normalizer"), "normalizers", steps);
        steps.removeAll(LOCAL_NORMALIZERS);
        if (!steps.isEmpty()) {
            return "normalizer " + String.join(", ", steps);
        }
        collectTypes(head.path("pre_tokenizer"), "pretokenizers", steps);
        steps.removeAll(LOCAL_PRE_TOKENIZERS);
        return steps.isEmpty() ? otherIds(tokenizer) : "pre-tokenizer " + String.join(", ", steps);
    }

    /**
     * The library numbers added tokens itself; a file whose numbers disagree is not taken at its
     * word.
     */
    private String otherIds(TextTokenizer tokenizer) {
        for (Map.Entry<String, Integer> token : idsByContent().entrySet()) {
            int[] ids = tokenizer.encode(token.getKey(), false);
            if (!token.getKey().isEmpty() && !(ids.length == 1 && ids[0] == token.getValue())) {
                return "id of the added token " + token.getKey();
            }
        }
        return "";
    }

    private static void collectTypes(JsonNode step, String children, Set<String> into) {
        if (step.isMissingNode() || step.isNull()) {
            return;
        }
        into.add(step.path("type").asText("of no type"));
        step.path(children).forEach(child -> collectTypes(child, children, into));
    }
}
