package io.warmpath.routing.scenario;

import io.warmpath.load.PromptBlocks;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A request and its answer, which the engine knows beforehand.
 *
 * @param text token ids of both
 * @param prompt how many of them are the prompt
 * @param chain names of the complete blocks of both
 */
record Prompt(int[] text, int prompt, long[] chain) {
    /** Tokens per KV block. */
    static final int BLOCK = 64;

    Prompt(int[] text, int prompt) {
        this(text, prompt, PromptBlocks.of(text, BLOCK, 17).chain());
    }

    /** Parts of random tokens, one after the other, then the answer. */
    static Prompt of(int answer, long answerSeed, Part... parts) {
        int prompt = Arrays.stream(parts).mapToInt(Part::tokens).sum();
        int[] text = new int[prompt + answer];
        int at = 0;
        for (Part part : parts) {
            at = part.write(text, at);
        }
        new Part(answerSeed, answer).write(text, at);
        return new Prompt(text, prompt);
    }

    /** The next turn: all of this one, and a question. */
    Prompt next(Part question, int answer, long answerSeed) {
        int[] longer = Arrays.copyOf(text, text.length + question.tokens() + answer);
        int at = question.write(longer, text.length);
        new Part(answerSeed, answer).write(longer, at);
        return new Prompt(longer, text.length + question.tokens());
    }

    int answer() {
        return text.length - prompt;
    }

    int[] promptTokens() {
        return Arrays.copyOf(text, prompt);
    }

    /** Blocks of the prompt that are usable from a cache: the last token is always computed. */
    int reusable() {
        return (prompt - 1) / BLOCK;
    }

    /** Equal seeds, equal text. */
    record Part(long seed, int tokens) {
        private int write(int[] to, int at) {
            SplittableRandom random = new SplittableRandom(seed);
            for (int i = 0; i < tokens; i++) {
                to[at + i] = random.nextInt(1 << 17);
            }
            return at + tokens;
        }
    }
}
