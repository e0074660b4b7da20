package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** The demo tokenizer with settings of other models' tokenizers; each over the same vocabulary. */
public final class TokenizerVariants {
    private static final String LETTERS =
            """
            {"type": "Sequence", "pretokenizers": [
               {"type": "Digits", "individual_digits": true},
               {"type": "Punctuation", "behavior": "Isolated"},
               {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}]}
            """;
    private static final String METASPACE =
            """
            {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": true}
            """;
    private static final String BEGIN_OF_TEXT =
            """
            {"type": "TemplateProcessing",
             "single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}},
                        {"Sequence": {"id": "A", "type_id": 0}}],
             "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
             "special_tokens": {"<|endoftext|>":
                {"id": "<|endoftext|>", "ids": [3069], "tokens": ["<|endoftext|>"]}}}
            """;
    private static final String BOTH_ENDS =
            """
            {"type": "TemplateProcessing",
             "single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}},
                        {"Sequence": {"id": "A", "type_id": 0}},
                        {"SpecialToken": {"id": "<|im_end|>", "type_id": 0}}],
             "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
             "special_tokens": {
                "<|im_end|>": {"id": "<|im_end|>", "ids": [3071], "tokens": ["<|im_end|>"]},
                "<|endoftext|>": {"id": "<|endoftext|>", "ids": [3069], "tokens": ["<|endoftext|>"]}}}
            """;

    private TokenizerVariants() {}

    /** Whose texts may be cut at added tokens. */
    public static Map<String, String> splittable() {
        Map<String, Consumer<ObjectNode>> changes = new LinkedHashMap<>();
        changes.put("as it is", root -> {});
        changes.put("NFC", root -> set(root, "normalizer", "{\"type\": \"NFC\"}"));
        changes.put(
                "NFKC and lower case",
                root ->
                        set(
                                root,
                                "normalizer",
                                "{\"type\": \"Sequence\", \"normalizers\":"
                                        + " [{\"type\": \"NFKC\"}, {\"type\": \"Lowercase\"}]}"));
        changes.put("prefix space, digits, marks", root -> set(root, "pre_tokenizer", LETTERS));
        changes.put("no pre-tokenizer", root -> root.putNull("pre_tokenizer"));
        changes.put("begin of text", root -> set(root, "post_processor", BEGIN_OF_TEXT));
        changes.put("both ends", root -> set(root, "post_processor", BOTH_ENDS));
        changes.put(
                "normalised added tokens",
                root -> {
                    set(root, "normalizer", "{\"type\": \"Lowercase\"}");
                    addToken(root, 3072, "the user", "\"normalized\": true, \"lstrip\": true");
                    addToken(root, 3073, "im_start", "\"normalized\": true");
                });
        changes.put(
                "tokens within tokens",
                root -> {
                    addToken(root, 3072, "<|im_end|>\n<|im_start|>", "\"normalized\": false");
                    addToken(root, 3073, "<|im_", "\"normalized\": false");
                    addToken(root, 3074, "end|>", "\"normalized\": false");
                    addToken(root, 3075, "日本", "\"normalized\": false");
                    addToken(root, 3076, "🙂", "\"normalized\": false");
                    addToken(root, 3077, "\n\n", "\"normalized\": false");
                });
        return apply(changes);
    }

    /** Where a cut could change ids; the reason has to name the first word of the key. */
    public static Map<String, String> unsplittable() {
        Map<String, Consumer<ObjectNode>> changes = new LinkedHashMap<>();
        changes.put("lstrip", root -> flag(root, "lstrip"));
        changes.put("rstrip", root -> flag(root, "rstrip"));
        changes.put("single_word", root -> flag(root, "single_word"));
        changes.put("Metaspace", root -> set(root, "pre_tokenizer", METASPACE));
        changes.put(
                "Prepend",
                root -> set(root, "normalizer", "{\"type\": \"Prepend\", \"prepend\": \"x\"}"));
        changes.put(
                "Strip inside a sequence",
                root ->
                        set(
                                root,
                                "normalizer",
                                "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Strip\","
                                        + " \"strip_left\": true, \"strip_right\": true}]}"));
        changes.put(
                "id that the file gives wrongly",
                root -> ((ObjectNode) root.get("added_tokens").get(2)).put("id", 4000));
        changes.put("dropout", root -> ((ObjectNode) root.get("model")).put("dropout", 0.1));
        return apply(changes);
    }

    private static Map<String, String> apply(Map<String, Consumer<ObjectNode>> changes) {
        Map<String, String> jsons = new LinkedHashMap<>();
        changes.forEach((name, change) -> jsons.put(name, DemoModel.json(change)));
        return jsons;
    }

    static void set(ObjectNode root, String field, String json) {
        root.set(field, DemoModel.tree(json));
    }

    static void flag(ObjectNode root, String flag) {
        for (int i = 1; i <= 2; i++) {
            ((ObjectNode) root.get("added_tokens").get(i)).put(flag, true);
        }
    }

    static void addToken(ObjectNode root, int id, String content, String flags) {
        String base =
                "{\"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"special\": true, "
                        + flags
                        + "}";
        ObjectNode token = (ObjectNode) DemoModel.tree(base);
        ((ArrayNode) root.get("added_tokens")).add(token.put("id", id).put("content", content));
    }
}
