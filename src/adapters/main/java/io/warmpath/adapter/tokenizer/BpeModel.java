package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.text.BpeParts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The {@code model} of a tokenizer.json, read as a stream: vocabulary and merges are most of the
 * file. Such a file writes bytes as letters, as GPT-2 did: the printable ones as themselves, the
 * others from U+0100 on.
 */
final class BpeModel {
    private static final int LETTERS_END = 256 + 68;
    private static final short[] BYTE_OF_LETTER = byteOfLetter();

    private final Map<String, Integer> vocabulary = new LinkedHashMap<>();
    private final BpeParts merges = new BpeParts();
    private boolean ignoreMerges;
    private boolean mergesSeen;
    private String type = "of no type";

    private BpeModel() {}

    /**
     * @param json a whole tokenizer.json
     * @throws NotUnderstoodException naming the first setting that is not known
     */
    static BpeModel read(String json, ObjectMapper mapper)
            throws IOException, NotUnderstoodException {
        BpeModel model = new BpeModel();
        try (JsonParser parser = mapper.createParser(json)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                boolean found = parser.currentName().equals("model");
                parser.nextToken();
                if (found) {
                    model.fields(parser);
                } else {
                    parser.skipChildren();
                }
            }
        }
        if (!model.type.equals("BPE")) {
            throw new NotUnderstoodException("model " + model.type);
        }
        return model;
    }

    private void fields(JsonParser parser) throws IOException, NotUnderstoodException {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (field) {
                case "type" -> type = parser.getText();
                case "vocab" -> vocabulary(parser);
                case "merges" -> merges(parser);
                case "ignore_merges" -> ignoreMerges = value == JsonToken.VALUE_TRUE;
                // Every byte is in the vocabulary, so nothing is unknown.
                case "unk_token", "fuse_unk" -> parser.skipChildren();
                default -> {
                    boolean unset =
                            value == JsonToken.VALUE_NULL
                                    || value == JsonToken.VALUE_FALSE
                                    || (value == JsonToken.VALUE_STRING
                                            && parser.getTextLength() == 0)
                                    || (value.isNumeric() && parser.getDoubleValue() == 0);
                    if (!unset) {
                        throw new NotUnderstoodException(field + " of the model");
                    }
                }
            }
        }
    }

    private void vocabulary(JsonParser parser) throws IOException, NotUnderstoodException {
        Set<Integer> ids = new HashSet<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String token = parser.currentName();
            parser.nextToken();
            int id = parser.getIntValue();
            if (vocabulary.put(token, id) != null || !ids.add(id)) {
                throw new NotUnderstoodException("the token " + token + " is there twice");
            }
        }
    }

    /** Pairs, or texts with a space between the two. */
    private void merges(JsonParser parser) throws IOException, NotUnderstoodException {
        if (mergesSeen || vocabulary.isEmpty()) {
            throw new NotUnderstoodException("merges before the vocabulary");
        }
        mergesSeen = true;
        Map<String, Boolean> known = new HashMap<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            String left;
            String right;
            if (parser.currentToken() == JsonToken.START_ARRAY) {
                left = parser.nextTextValue();
                right = parser.nextTextValue();
                parser.nextToken();
            } else {
                String both = parser.getText();
                int space = both.indexOf(' ');
                left = both.substring(0, Math.max(space, 0));
                right = both.substring(space + 1);
            }
            Integer leftId = byteToken(left, known);
            Integer rightId = byteToken(right, known);
            Integer result = left == null || right == null ? null : vocabulary.get(left + right);
            if (leftId == null || rightId == null || result == null) {
                throw new NotUnderstoodException("the merge of " + left + " and " + right);
            }
            merges.addMerge(leftId, rightId, result);
        }
    }

    private @Nullable Integer byteToken(@Nullable String token, Map<String, Boolean> known) {
        if (token == null
                || token.isEmpty()
                || !known.computeIfAbsent(token, t -> bytesOf(t) != null)) {
            return null;
        }
        return vocabulary.get(token);
    }

    Map<String, Integer> vocabulary() {
        return vocabulary;
    }

    /**
     * Tokens with other letters stand for no bytes: no text has them, but as added tokens.
     *
     * @param addedTokens their contents
     */
    void addTo(BpeParts parts, Set<String> addedTokens) {
        vocabulary.forEach(
                (token, id) -> {
                    byte[] bytes = bytesOf(token);
                    if (bytes != null && bytes.length > 0) {
                        parts.addToken(id, bytes);
                    } else if (!addedTokens.contains(token)) {
                        parts.notReversible(); // the decoder has a text for it
                    }
                });
        int[] ids = merges.merges();
        for (int i = 0; i < ids.length; i += 3) {
            parts.addMerge(ids[i], ids[i + 1], ids[i + 2]);
        }
        if (ignoreMerges) {
            parts.ignoreMerges();
        }
    }

    /**
     * The usual decoder takes letters for bytes in added tokens too, which stand for themselves in
     * a text: some are not read back as they were written.
     */
    static boolean readsOtherwise(String addedToken) {
        byte[] bytes = bytesOf(addedToken);
        return bytes != null && !Arrays.equals(bytes, addedToken.getBytes(StandardCharsets.UTF_8));
    }

    private static byte @Nullable [] bytesOf(String token) {
        byte[] bytes = new byte[token.length()];
        for (int i = 0; i < bytes.length; i++) {
            char letter = token.charAt(i);
            if (letter >= LETTERS_END || BYTE_OF_LETTER[letter] < 0) {
                return null;
            }
            bytes[i] = (byte) BYTE_OF_LETTER[letter];
        }
        return bytes;
    }

    private static short[] byteOfLetter() {
        short[] bytes = new short[LETTERS_END];
        int next = 256;
        Arrays.fill(bytes, (short) -1);
        for (int b = 0; b < 256; b++) {
            boolean printable = (b > ' ' && b < 127) || (b > 160 && b != 173);
            bytes[printable ? b : next++] = (short) b;
        }
        return bytes;
    }
}
