package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The demo tokenizer's vocabulary under the settings of each known family, and of unknown ones. */
final class BpeFamilies {
    private static final String SPACES = "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    private static final String SHORT = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    private static final String LLAMA3 =
            SHORT
                    + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
                    + SPACES;
    private static final String QWEN35 =
            SHORT
                    + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
                    + "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|"
                    + SPACES;
    private static final String HIGH = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
    private static final String LOW = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
    private static final String[] DEEPSEEK = {
        "\\p{N}{1,3}",
        "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
                + "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
                + "\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
    };

    private BpeFamilies() {}

    private static String cased(String contraction, String digits) {
        String front = "[^\\r\\n\\p{L}\\p{N}]?";
        return front
                + (HIGH + "*" + LOW + "+" + contraction + "|" + front + HIGH + "+" + LOW + "*")
                + (contraction + "|\\p{N}" + digits + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" + SPACES);
    }

    static Map<String, String> all() {
        Map<String, Consumer<ObjectNode>> changes = new LinkedHashMap<>();
        changes.put(
                "Qwen 2", root -> TokenizerVariants.set(root, "normalizer", "{\"type\":\"NFC\"}"));
        changes.put("GPT-2", root -> root.set("pre_tokenizer", byteLevel(true)));
        changes.put("Llama 3", root -> splits(root, LLAMA3));
        changes.put("Qwen 3.5", root -> splits(root, QWEN35));
        changes.put("o200k", root -> splits(root, cased(SHORT + "?", "{1,3}")));
        changes.put("tekken", root -> splits(root, cased("", "")));
        changes.put("DeepSeek V3", root -> splits(root, DEEPSEEK));
        changes.put(
                "Llama 3, words that are tokens stay whole",
                root -> {
                    splits(root, LLAMA3);
                    ((ObjectNode) root.get("model")).put("ignore_merges", true);
                });
        changes.put(
                "added tokens with flags, normalised",
                root -> {
                    TokenizerVariants.set(root, "normalizer", "{\"type\":\"NFC\"}");
                    int id = 3072;
                    for (String flags :
                            new String[] {
                                "\"normalized\":true",
                                "\"normalized\":true,\"lstrip\":true",
                                "\"normalized\":false,\"rstrip\":true",
                                "\"normalized\":false,\"lstrip\":true,\"rstrip\":true",
                                "\"normalized\":false"
                            }) {
                        // The last one's content: a part of another, so that the longest has to
                        // win.
                        String content = id == 3076 ? "<x" : "<x" + id + "\u00e9>";
                        TokenizerVariants.addToken(root, id, content, flags);
                        id++;
                    }
                });
        return apply(changes);
    }

    static String lowercase() {
        return DemoModel.json(
                root -> TokenizerVariants.set(root, "normalizer", "{\"type\":\"Lowercase\"}"));
    }

    /** By a part of the reason. */
    static Map<String, String> refused() {
        Map<String, Consumer<ObjectNode>> changes = new LinkedHashMap<>();
        changes.put(
                "normalizer Lowercase",
                root -> TokenizerVariants.set(root, "normalizer", "{\"type\":\"Lowercase\"}"));
        changes.put("unknown expression", root -> splits(root, "\\p{L}+"));
        changes.put("does not end with ByteLevel", root -> root.putNull("pre_tokenizer"));
        changes.put(
                "pre-tokenizer Digits",
                root -> {
                    splits(root);
                    ((ArrayNode) root.get("pre_tokenizer").get("pretokenizers"))
                            .insert(0, DemoModel.tree("{\"type\":\"Digits\"}"));
                });
        changes.put(
                "add_prefix_space",
                root -> root.set("pre_tokenizer", byteLevel(true).put("add_prefix_space", true)));
        changes.put(
                "post-processor BertProcessing",
                root ->
                        TokenizerVariants.set(
                                root, "post_processor", "{\"type\":\"BertProcessing\"}"));
        changes.put(
                "dropout of the model",
                root -> ((ObjectNode) root.get("model")).put("dropout", 0.1));
        changes.put(
                "byte_fallback of the model",
                root -> ((ObjectNode) root.get("model")).put("byte_fallback", true));
        changes.put(
                "continuing_subword_prefix of the model",
                root -> ((ObjectNode) root.get("model")).put("continuing_subword_prefix", "##"));
        changes.put(
                "invented of the model",
                root -> ((ObjectNode) root.get("model")).put("invented", 1));
        changes.put("setting invented", root -> root.put("invented", 1));
        changes.put(
                "model WordPiece",
                root -> ((ObjectNode) root.get("model")).put("type", "WordPiece"));
        changes.put(
                "single_word of the added token <|im_start|>",
                root -> TokenizerVariants.flag(root, "single_word"));
        changes.put(
                "id of the added token <|im_end|>",
                root -> ((ObjectNode) root.get("added_tokens").get(2)).put("id", 4000));
        changes.put(
                "the merge of",
                root -> ((ArrayNode) root.get("model").get("merges")).insert(3, "zq qz"));
        changes.put(
                "ktk_open failed",
                root -> {
                    ObjectNode tokens = (ObjectNode) root.get("model").get("vocab");
                    tokens.set("\u0100\u0100\u0100\u0100", tokens.remove("\u0100")); // byte 0
                });
        return apply(changes);
    }

    static List<String> addedTokens(String json) {
        List<String> contents = new ArrayList<>();
        for (JsonNode token : DemoModel.tree(json).get("added_tokens")) {
            contents.add(token.get("content").asText());
        }
        return contents;
    }

    private static Map<String, String> apply(Map<String, Consumer<ObjectNode>> changes) {
        Map<String, String> jsons = new LinkedHashMap<>();
        changes.forEach((name, change) -> jsons.put(name, DemoModel.json(change)));
        return jsons;
    }

    private static ObjectNode byteLevel(boolean regex) {
        return ((ObjectNode) DemoModel.tree("{\"type\":\"ByteLevel\",\"trim_offsets\":true}"))
                .put("add_prefix_space", false)
                .put("use_regex", regex);
    }

    private static void splits(ObjectNode root, String... expressions) {
        ObjectNode sequence = root.putObject("pre_tokenizer").put("type", "Sequence");
        ArrayNode steps = sequence.putArray("pretokenizers");
        for (String expression : expressions) {
            ObjectNode step =
                    steps.addObject()
                            .put("type", "Split")
                            .put("behavior", "Isolated")
                            .put("invert", false);
            step.putObject("pattern").put("Regex", expression);
        }
        steps.add(byteLevel(false));
    }
}
