package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.tokens.text.BpeParts.Pattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The pre-tokenizers of known models, told by their regular expressions, letter by letter. */
final class KnownPatterns {
    private static final String CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    private static final String SPACES = "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

    private static final Map<String, Pattern> BY_EXPRESSION =
            Map.of(
                    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
                    Pattern.GPT2,
                    words("\\p{L}", "{1,3}", "\\p{L}"),
                    Pattern.LLAMA3,
                    words("\\p{L}", "", "\\p{L}"),
                    Pattern.QWEN2,
                    words("[\\p{L}\\p{M}]", "", "\\p{L}\\p{M}"),
                    Pattern.QWEN35,
                    cased(CONTRACTIONS + "?", "{1,3}"),
                    Pattern.O200K,
                    cased("", ""),
                    Pattern.TEKKEN,
                    "\\p{N}{1,3}",
                    Pattern.THREE_DIGITS,
                    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
                    Pattern.CJK,
                    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
                            + "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
                            + "| ?[\\p{P}\\p{S}]+[\\r\\n]*|"
                            + SPACES,
                    Pattern.DEEPSEEK);

    private KnownPatterns() {}

    private static String words(String word, String digits, String letters) {
        return CONTRACTIONS
                + "|[^\\r\\n\\p{L}\\p{N}]?"
                + word
                + "+|\\p{N}"
                + digits
                + "| ?[^\\s"
                + letters
                + "\\p{N}]+[\\r\\n]*|"
                + SPACES;
    }

    private static String cased(String contractions, String digits) {
        String prefix = "[^\\r\\n\\p{L}\\p{N}]?";
        String high = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
        String low = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
        return prefix
                + high
                + "*"
                + low
                + "+"
                + contractions
                + "|"
                + prefix
                + high
                + "+"
                + low
                + "*"
                + contractions
                + "|\\p{N}"
                + digits
                + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|"
                + SPACES;
    }

    /** The steps of a {@code pre_tokenizer}, of which the last turns text into bytes. */
    static List<Pattern> of(JsonNode preTokenizer) throws NotUnderstoodException {
        List<JsonNode> steps = new ArrayList<>();
        if (type(preTokenizer).equals("Sequence")) {
            preTokenizer.path("pretokenizers").forEach(steps::add);
        } else {
            steps.add(preTokenizer);
        }
        if (steps.isEmpty() || !type(steps.getLast()).equals("ByteLevel")) {
            throw new NotUnderstoodException("pre-tokenizer that does not end with ByteLevel");
        }
        List<Pattern> patterns = new ArrayList<>();
        for (JsonNode step : steps.subList(0, steps.size() - 1)) {
            patterns.add(split(step));
        }
        JsonNode bytes = steps.getLast();
        if (bytes.path("add_prefix_space").asBoolean(true)) {
            throw new NotUnderstoodException("add_prefix_space of the pre-tokenizer");
        }
        if (bytes.path("use_regex").asBoolean(true)) {
            patterns.add(Pattern.GPT2);
        }
        return patterns;
    }

    private static Pattern split(JsonNode step) throws NotUnderstoodException {
        if (!type(step).equals("Split")) {
            throw new NotUnderstoodException("pre-tokenizer " + type(step));
        }
        if (!step.path("behavior").asText().equals("Isolated")
                || step.path("invert").asBoolean(true)) {
            throw new NotUnderstoodException("pre-tokenizer Split that is not plainly isolated");
        }
        // Some files write the control characters themselves.
        String expression =
                step.path("pattern")
                        .path("Regex")
                        .asText()
                        .replace("\r", "\\r")
                        .replace("\n", "\\n");
        Pattern pattern = BY_EXPRESSION.get(expression);
        if (pattern == null) {
            throw new NotUnderstoodException("unknown expression of the pre-tokenizer Split");
        }
        return pattern;
    }

    static String type(JsonNode step) {
        return step.path("type").asText("of no type");
    }
}
