package io.warmpath.tokens;

import io.warmpath.prefix.HashedPrompt;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.tokens.text.TextTokenizer;
import io.warmpath.tokens.text.UnencodableTextException;
import org.jspecify.annotations.Nullable;

/**
 * The prefix index as prompts see it: from a text, or from ids, to the hashes of its blocks and to
 * who holds them, in one go. Ids that are made on the way are kept nowhere; beginnings of texts are
 * remembered. Any thread. Costs the tokens of what is new, and a hash over what is known.
 */
public interface PromptIndex {
    /** What is remembered now, and what was since start. {@code bytes}: of the pieces, about. */
    record Remembered(long pieces, long bytes, long evicted, long found, long missed) {}

    /** It can run this tokenizer itself. */
    boolean runs(TextTokenizer tokenizer);

    /**
     * @param tokenizer one that it {@link #runs}
     * @param mostNewChars of ASCII; characters of other scripts count as their bytes
     * @return null when more is new: nothing was done then
     * @throws UnencodableTextException when the text is not well-formed Unicode
     */
    @Nullable HashedPrompt match(
            TextTokenizer tokenizer,
            String text,
            boolean addSpecialTokens,
            int blockSize,
            PrefixSpace space,
            int mostNewChars);

    /** {@code ids}: u32 in an int. */
    HashedPrompt match(int[] ids, int blockSize, PrefixSpace space);

    Remembered remembered();

    /** The same index with a memory of its own: what is asked of it leaves no trace here. */
    PromptIndex apart(long memoryBytes);
}
