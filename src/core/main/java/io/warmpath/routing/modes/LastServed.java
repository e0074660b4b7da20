package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.PromptBlocks;
import io.warmpath.routing.RoutingRequest;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntPredicate;

/**
 * Which worker served a prefix last, for ties that nothing else decides: before a worker's first
 * event has come, or without events, equal prompts then meet on one worker.
 *
 * <p>Any thread, lock-free; 256 KiB. A prompt is remembered by the name of its last complete block
 * ({@link PromptBlocks#chain}) and of its blocks 1, 2, 4, 8, ..., so that a longer prompt still
 * finds where its beginning went. A table of fixed size, where a newer prefix takes the place of an
 * older one: what is forgotten costs a random draw. Half of a name is kept; two prefixes that share
 * it are taken for one, once in four thousand million.
 */
final class LastServed {
    private static final int SIZE = 1 << 15;

    /** Upper half of the name, and the slot's value plus one; 0 is empty. */
    private final AtomicLongArray entries = new AtomicLongArray(SIZE);

    /** Remembers that the request goes to this candidate. */
    void remember(RoutingRequest request, Candidate candidate) {
        PromptBlocks prompt = request.prompt(candidate.worker().blockSize());
        if (prompt == null) {
            return;
        }
        long[] chain = prompt.chain();
        for (int n = chain.length; n > 0; n = shorter(n)) {
            long name = chain[n - 1];
            entries.setOpaque(index(name), packed(name, candidate.slot().value()));
        }
    }

    /**
     * The candidate that served the longest remembered beginning of the prompt, if it is among
     * those asked for. Returns its index, or -1.
     */
    int find(RoutingRequest request, List<Candidate> candidates, IntPredicate among) {
        int found = -1;
        int tokens = 0;
        for (int p = 0; p < request.prompts().size(); p++) {
            PromptBlocks prompt = request.prompts().get(p);
            long[] chain = prompt.chain();
            for (int n = chain.length; n * prompt.blockSize() > tokens; n = shorter(n)) {
                int at = servedBy(chain[n - 1], candidates, among);
                if (at >= 0) {
                    found = at;
                    tokens = n * prompt.blockSize();
                    break;
                }
            }
        }
        return found;
    }

    private int servedBy(long name, List<Candidate> candidates, IntPredicate among) {
        long entry = entries.getOpaque(index(name));
        for (int i = 0; entry != 0 && i < candidates.size(); i++) {
            if (entry == packed(name, candidates.get(i).slot().value())) {
                return among.test(i) ? i : -1;
            }
        }
        return -1;
    }

    /** The next shorter beginning: the largest power of two below {@code n}. */
    private static int shorter(int n) {
        return n == 1 ? 0 : Integer.highestOneBit(n - 1);
    }

    private static int index(long name) {
        return (int) name & (SIZE - 1);
    }

    private static long packed(long name, int slot) {
        return (name & 0xffff_ffff_0000_0000L) | (slot + 1L & 0xffff_ffffL);
    }
}
