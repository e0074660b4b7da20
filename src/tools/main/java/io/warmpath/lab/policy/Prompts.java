package io.warmpath.lab.policy;

import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import java.util.Arrays;

/**
 * Prompts of the lab as the product's types. A block of the lab is one number. The index therefore
 * sees blocks of one token, that number, and its answer is handed on in blocks of the engines'
 * size: the same depths, without writing thousands of made-up tokens for each prompt only to hash
 * them.
 */
final class Prompts {
    private static final long SEED = 0x6c61_6221L;

    private Prompts() {}

    static PrefixQuery query(Call call) {
        return new PrefixQuery(call.blocks(), call.promptBlocks(), 1, PrefixSpace.NONE);
    }

    static PrefixMatch inBlocks(PrefixMatch match, int blockTokens) {
        int[] slots = new int[match.size()];
        int[] depths = new int[slots.length * Tier.COUNT];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = match.slotAt(i);
            for (Tier tier : TIERS) {
                depths[i * Tier.COUNT + tier.number()] = match.depthAt(i, tier);
            }
        }
        return new PrefixMatch(blockTokens, match.blocks(), slots, depths);
    }

    /** The names of the prompt's blocks, so that running requests share them. */
    static PromptBlocks named(Call call, int blockTokens) {
        int n = call.promptBlocks();
        int[] ids = call.blocks().length == n ? call.blocks() : Arrays.copyOf(call.blocks(), n);
        long[] chain = PromptBlocks.of(ids, 1, SEED).chain();
        return new PromptBlocks(blockTokens, call.promptTokens(), chain, true);
    }

    private static final Tier[] TIERS = Tier.values();
}
