package io.warmpath.routing.modes;

import io.warmpath.load.PrefixUsers;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.rates.WorkerRates;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Prompt blocks that were sent to some engine lately, to tell which of those that are computed now
 * come back after they were evicted.
 *
 * <p>Any thread, lock-free; 512 KiB. Blocks are remembered by name ({@link PromptBlocks#chain}),
 * one of about 1,024 tokens of prompts, drawn by the name itself so that the same blocks are looked
 * at each time. A table of fixed size, where a newer name takes the place of an older one: it knows
 * some 60 million tokens. A request costs a multiplication for each of its blocks.
 */
final class ComputedBlocks {
    private static final int SIZE = 1 << 16;
    private static final int TOKENS = 1024;
    private static final long SPREAD = 0x9e3779b97f4a7c15L;

    /** Names, spread; 0 is empty. */
    private final AtomicLongArray names = new AtomicLongArray(SIZE);

    /** Remembers the prompt, and tells the chosen worker's rates what has to be computed again. */
    void sent(RoutingDecision decision, WorkerRates rates) {
        RoutingRequest request = decision.request();
        int blockSize = decision.chosen().candidate().worker().blockSize();
        PromptBlocks prompt = request.prompt(blockSize);
        if (prompt == null) {
            return;
        }
        int cached = decision.chosen().cachedTokens() / blockSize;
        PrefixUsers running = decision.compared().potential().users(blockSize);
        int held = Math.max(running.blocks(), deepest(request.match(blockSize)));
        int computed = 0;
        int again = 0;
        int every = Integer.highestOneBit(Math.max(1, TOKENS / blockSize));
        long[] chain = prompt.chain();
        for (int i = 0; i < chain.length; i++) {
            long name = chain[i] * SPREAD;
            if ((name & (every - 1)) == 0) {
                int at = (int) (name >>> 48) & (SIZE - 1);
                boolean known = names.getOpaque(at) == name;
                names.setOpaque(at, name);
                computed += i >= cached ? 1 : 0;
                again += i >= Math.max(cached, held) && known ? 1 : 0;
            }
        }
        if (computed > 0) {
            rates.computed(decision.chosen().candidate().slot(), computed, again);
        }
    }

    /** The most that anybody holds of the prompt, in any tier. */
    private static int deepest(@Nullable PrefixMatch match) {
        int most = 0;
        for (int i = 0; match != null && i < match.size(); i++) {
            most = Math.max(most, match.depthAt(i, Tier.EXTERNAL));
        }
        return most;
    }
}
