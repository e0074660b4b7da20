package io.warmpath.tokens;

import io.warmpath.prefix.HashedPrompt;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.tokens.text.TextTokenizer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of an index with a prompt, instead of the prompt's ids.
 *
 * @param blockSizes tokens per block, as the workers that may get the prompt have them; not empty
 */
public record LookUp(PromptIndex index, List<Integer> blockSizes, PrefixSpace space) {
    public LookUp {
        blockSizes = List.copyOf(blockSizes);
        if (blockSizes.isEmpty()) {
            throw new IllegalArgumentException("no block size");
        }
    }

    /** One answer for each block size; null when more than {@code mostNewChars} are new. */
    public @Nullable List<HashedPrompt> match(
            TextTokenizer tokenizer, String text, boolean addSpecialTokens, int mostNewChars) {
        List<HashedPrompt> found = new ArrayList<>(blockSizes.size());
        for (int blockSize : blockSizes) {
            HashedPrompt one =
                    index.match(tokenizer, text, addSpecialTokens, blockSize, space, mostNewChars);
            if (one == null) {
                return null;
            }
            found.add(one);
        }
        return found;
    }

    /** The same from ids. */
    public List<HashedPrompt> match(int[] ids) {
        List<HashedPrompt> found = new ArrayList<>(blockSizes.size());
        for (int blockSize : blockSizes) {
            found.add(index.match(ids, blockSize, space));
        }
        return found;
    }
}
