package io.warmpath.prefix;

/**
 * A prompt by the hashes of its blocks, and who held how much of it when they were made.
 *
 * <p>Immutable as long as nobody writes to the array, which is not copied.
 *
 * @param tokens of the whole prompt
 * @param knownTokens of these, remembered from prompts before
 * @param hashes local hashes of all complete blocks
 * @param match the index's answer, for these blocks and their size
 */
public record HashedPrompt(int tokens, int knownTokens, long[] hashes, PrefixMatch match) {
    public HashedPrompt {
        if (hashes.length != match.blocks() || hashes.length != tokens / match.blockSize()) {
            throw new IllegalArgumentException(
                    "%s hashes of %s tokens, and an answer about %s blocks of %s"
                            .formatted(hashes.length, tokens, match.blocks(), match.blockSize()));
        }
    }

    /** Tokens per block. */
    public int blockSize() {
        return match.blockSize();
    }
}
