package io.warmpath.tokens.text;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * What a byte-level byte-pair tokenizer is made of: filled by whoever reads the model's file, read
 * by whoever runs it. One thread at a time. Tokens are bytes here, not the letters that stand for
 * bytes in a file.
 */
public final class BpeParts {
    /** How text is cut into words, by the models that do so. */
    public enum Pattern {
        GPT2,
        /** GLM too. */
        LLAMA3,
        QWEN2,
        QWEN35,
        /** gpt-oss, Llama 4. */
        O200K,
        /** Mistral. */
        TEKKEN,
        /** The three steps of DeepSeek V3. */
        THREE_DIGITS,
        CJK,
        DEEPSEEK
    }

    /**
     * A token that is found in the text before anything else.
     *
     * @param normalized looked for after the normaliser
     * @param lstrip takes the white space before it
     * @param rstrip takes the white space behind it
     */
    public record Added(
            int id,
            String content,
            boolean special,
            boolean normalized,
            boolean lstrip,
            boolean rstrip) {}

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 16);
    private final IntBuilder ids = new IntBuilder(1 << 12);
    private final IntBuilder lengths = new IntBuilder(1 << 12);
    private final IntBuilder merges = new IntBuilder(1 << 12);
    private final List<Added> added = new ArrayList<>();
    private final List<Pattern> steps = new ArrayList<>();
    private final IntBuilder before = new IntBuilder(4);
    private final IntBuilder behind = new IntBuilder(4);
    private boolean nfc;
    private boolean ignoreMerges;
    private boolean reversible = true;

    public void addToken(int id, byte[] content) {
        bytes.writeBytes(content);
        ids.add(id);
        lengths.add(content.length);
    }

    /** In rank order. */
    public void addMerge(int left, int right, int result) {
        merges.add(left);
        merges.add(right);
        merges.add(result);
    }

    public void addAdded(Added token) {
        added.add(token);
    }

    /** Cuts what the steps before it leave. */
    public void addStep(Pattern step) {
        steps.add(step);
    }

    /** Texts are brought into normal form C. */
    public void normalizeToNfc() {
        nfc = true;
    }

    /** A word that is a token is that token, whatever the merges say. */
    public void ignoreMerges() {
        ignoreMerges = true;
    }

    /** The text of a token may be another one than its bytes: no text is made of ids. */
    public void notReversible() {
        reversible = false;
    }

    /** What is put around a raw prompt. */
    public void surround(int[] idsBefore, int[] idsBehind) {
        before.addAll(idsBefore);
        behind.addAll(idsBehind);
    }

    /** All tokens of the vocabulary, one behind the other. */
    public byte[] bytes() {
        return bytes.toByteArray();
    }

    public int[] ids() {
        return ids.toArray();
    }

    /** In bytes, in the order of {@link #ids}. */
    public int[] lengths() {
        return lengths.toArray();
    }

    /** Left, right, result; left, right, result. */
    public int[] merges() {
        return merges.toArray();
    }

    public List<Added> added() {
        return List.copyOf(added);
    }

    public List<Pattern> steps() {
        return List.copyOf(steps);
    }

    public int[] before() {
        return before.toArray();
    }

    public int[] behind() {
        return behind.toArray();
    }

    public boolean nfc() {
        return nfc;
    }

    /** The bytes of the tokens, one behind the other, are the text. */
    public boolean reversible() {
        return reversible;
    }

    public boolean ignoresMerges() {
        return ignoreMerges;
    }
}
