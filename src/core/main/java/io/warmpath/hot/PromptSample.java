package io.warmpath.hot;

import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import java.util.Arrays;

/**
 * One prompt that stands for some. Immutable.
 *
 * @param prompt its complete blocks, by hashes or by ids, in an array of their own length
 * @param text what it begins with
 * @param standsFor requests
 */
record PromptSample(Group group, PrefixQuery prompt, String text, long standsFor, long atNanos) {
    private static final int BYTES_OF_ONE = 160;
    private static final int MOST_ARRAY_BYTES = 64 << 10;

    /** Prompts that can have prefixes in common. */
    record Group(String model, int blockSize, PrefixSpace space, boolean hashed) {}

    /** {@code prompt}: is copied, as far as a sample goes. */
    static PromptSample of(
            String model, PrefixQuery prompt, String text, long standsFor, long atNanos) {
        boolean hashed = prompt.hashes() != null;
        int bytesOfBlock = hashed ? Long.BYTES : Integer.BYTES * prompt.blockSize();
        int blocks = Math.min(prompt.blocks(), Math.max(1, MOST_ARRAY_BYTES / bytesOfBlock));
        return new PromptSample(
                new Group(model, prompt.blockSize(), prompt.space(), hashed),
                first(prompt, blocks),
                text,
                standsFor,
                atNanos);
    }

    /** Its first blocks, copied. */
    static PrefixQuery first(PrefixQuery of, int blocks) {
        int tokens = blocks * of.blockSize();
        long[] hashes = of.hashes();
        return hashes != null
                ? PrefixQuery.hashed(
                        Arrays.copyOf(hashes, blocks), tokens, of.blockSize(), of.space())
                : new PrefixQuery(
                        Arrays.copyOf(of.tokens(), tokens), tokens, of.blockSize(), of.space());
    }

    long bytes() {
        long[] hashes = prompt.hashes();
        return BYTES_OF_ONE
                + 2L * text.length()
                + (hashes != null
                        ? (long) Long.BYTES * hashes.length
                        : (long) Integer.BYTES * prompt.length());
    }

    /** Block by block; a prefix comes before what it is one of. Of one group only. */
    int compareTo(PromptSample other) {
        long[] hashes = prompt.hashes();
        long[] others = other.prompt.hashes();
        return hashes != null && others != null
                ? Arrays.compare(hashes, others)
                : Arrays.compare(prompt.tokens(), other.prompt.tokens());
    }

    /** Blocks that both begin with. Of one group only. */
    int common(PromptSample other) {
        long[] hashes = prompt.hashes();
        long[] others = other.prompt.hashes();
        int same =
                hashes != null && others != null
                        ? Arrays.mismatch(hashes, others)
                        : Arrays.mismatch(prompt.tokens(), other.prompt.tokens());
        return same < 0 ? prompt.blocks() : hashes != null ? same : same / prompt.blockSize();
    }
}
