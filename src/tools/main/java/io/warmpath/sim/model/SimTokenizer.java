package io.warmpath.sim.model;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * The model's tokenizer, from a {@code tokenizer.json}. Special tokens written in the text become
 * their ids; nothing is added or cut. Any thread; calls may take milliseconds.
 */
public final class SimTokenizer implements AutoCloseable {
    /** Class-path resource of the demo model. */
    public static final String DEMO_MODEL = "demo-model/tokenizer.json";

    private final HuggingFaceTokenizer tokenizer;

    private SimTokenizer(HuggingFaceTokenizer tokenizer) {
        this.tokenizer = tokenizer;
    }

    /** The demo model's tokenizer, which is part of this build. */
    public static SimTokenizer demo() throws IOException {
        try (InputStream json =
                SimTokenizer.class.getClassLoader().getResourceAsStream(DEMO_MODEL)) {
            if (json == null) {
                throw new IOException("this build holds no " + DEMO_MODEL + "; build it anew");
            }
            return load(json);
        }
    }

    /** A model's {@code tokenizer.json}. */
    public static SimTokenizer load(Path file) throws IOException {
        if (!Files.isReadable(file)) {
            throw new IOException(
                    "cannot read tokenizer " + file + "; name a model's tokenizer.json");
        }
        try (InputStream json = Files.newInputStream(file)) {
            return load(json);
        }
    }

    private static SimTokenizer load(InputStream json) throws IOException {
        // Truncation and padding of the model's file do not apply to a server's prompts.
        return new SimTokenizer(
                HuggingFaceTokenizer.newInstance(
                        json,
                        Map.of(
                                "addSpecialTokens", "false",
                                "truncation", "do_not_truncate",
                                "padding", "false",
                                "modelMaxLength", String.valueOf(Integer.MAX_VALUE))));
    }

    /** Token ids, u32 in an int. */
    public int[] encode(String text) {
        long[] ids = tokenizer.encode(text, false, false).getIds();
        int[] tokens = new int[ids.length];
        for (int i = 0; i < ids.length; i++) {
            tokens[i] = (int) ids[i];
        }
        return tokens;
    }

    /**
     * What the model puts before every prompt when it is asked to; empty for most ChatML models.
     */
    public Set<Integer> startTokens() {
        long[] plain = tokenizer.encode("a", false, false).getIds();
        long[] begun = tokenizer.encode("a", true, false).getIds();
        return begun.length > plain.length && begun[0] != plain[0]
                ? Set.of((int) begun[0])
                : Set.of();
    }

    /** Text of these ids, special tokens written out. */
    public String decode(int... tokens) {
        long[] ids = new long[tokens.length];
        for (int i = 0; i < tokens.length; i++) {
            ids[i] = Integer.toUnsignedLong(tokens[i]);
        }
        return tokenizer.decode(ids, false);
    }

    @Override
    public void close() {
        tokenizer.close();
    }
}
