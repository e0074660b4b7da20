package io.warmpath.prefix;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The slots of an index whose models have caches of several kinds, and what of a prefix these can
 * use: each group of layers must have what it needs of it ({@link SideBlocks}).
 *
 * <p>Any thread; asking is one volatile load while there is no such slot.
 */
public final class HybridSlots {
    private static final @Nullable SideBlocks[] NONE = {};

    private final LocalHashes hashes;

    /** By number, the incarnation that was closed last. Guarded by this. */
    private final Map<Integer, Integer> closed = new HashMap<>();

    /** By slot number; replaced by each change. */
    private volatile @Nullable SideBlocks[] bySlot = NONE;

    /** How the index names the content of a block. */
    @FunctionalInterface
    public interface LocalHashes {
        /** One hash for each of the first blocks; equal ones are taken for equal content. */
        long[] of(int[] tokens, int blocks, int blockSize, PrefixSpace space);
    }

    /**
     * @param hashes those that hashed queries of the same index have
     */
    public HybridSlots(LocalHashes hashes) {
        this.hashes = hashes;
    }

    /** Groups and blocks of a slot from now on; null when the slot was closed. */
    public synchronized @Nullable SideBlocks open(WorkerSlot slot) {
        Integer last = closed.get(slot.index());
        if (last != null && last == slot.incarnation()) {
            return null;
        }
        @Nullable SideBlocks[] all = bySlot;
        if (slot.index() < all.length && all[slot.index()] != null) {
            return all[slot.index()];
        }
        SideBlocks fresh = new SideBlocks();
        all = Arrays.copyOf(all, Math.max(all.length, slot.index() + 1));
        all[slot.index()] = fresh;
        bySlot = all;
        return fresh;
    }

    /** This slot has the caches of a plain model. */
    public synchronized void forget(WorkerSlot slot) {
        @Nullable SideBlocks[] all = bySlot;
        if (slot.index() < all.length && all[slot.index()] != null) {
            all = all.clone();
            all[slot.index()] = null;
            bySlot = Arrays.stream(all).allMatch(s -> s == null) ? NONE : all;
        }
    }

    /** The slot is closed: what still comes for it is not taken. */
    public synchronized void close(WorkerSlot slot) {
        closed.put(slot.index(), slot.incarnation());
        forget(slot);
    }

    /** Whether there is such a slot. */
    public boolean any() {
        return bySlot.length != 0;
    }

    /** Local hashes of these blocks. */
    public long[] hashes(int[] tokens, int blockSize, PrefixSpace space) {
        return hashes.of(tokens, tokens.length / blockSize, blockSize, space);
    }

    /**
     * What is usable of what is held: never the last token of the prompt, which is always computed,
     * and in each tier only what the other groups go along with on the device. O(blocks) for each
     * hybrid slot at worst, most often as many look-ups as its windows have blocks.
     *
     * @param held the index's answer to the query
     */
    public PrefixMatch usable(PrefixQuery query, PrefixMatch held) {
        @Nullable SideBlocks[] all = bySlot;
        if (all.length == 0 || query.blocks() == 0) {
            return held;
        }
        int most = (query.length() - 1) / query.blockSize();
        long[] places = null;
        PrefixMatch without = null;
        int[] depths = new int[Tier.COUNT];
        for (int number = 0; number < all.length; number++) {
            SideBlocks sides = all[number];
            if (sides == null || (sides.hasFull() && held.indexOf(number) < 0)) {
                continue;
            }
            places = places == null ? places(query) : places;
            if (!sides.hasFull()) {
                Arrays.fill(depths, sides.usableAlone(places, most));
                PrefixMatch one =
                        new PrefixMatch(
                                query.blockSize(),
                                query.blocks(),
                                new int[] {number},
                                depths.clone());
                without = without == null ? one : PrefixMatch.larger(without, one);
            }
        }
        if (places == null) {
            return held;
        }
        long[] path = places;
        PrefixMatch less =
                held.changed(
                        (tiers, slot) -> {
                            SideBlocks sides = slot < all.length ? all[slot] : null;
                            int last = -1;
                            for (int t = 0; sides != null && t < tiers.length; t++) {
                                // Most often all tiers are as deep as the first.
                                int depth = tiers[t];
                                tiers[t] =
                                        depth == last
                                                ? tiers[t - 1]
                                                : sides.usable(path, Math.min(most, depth));
                                last = depth;
                            }
                        });
        return without == null ? less : PrefixMatch.larger(less, without);
    }

    private long[] places(PrefixQuery query) {
        long[] locals = query.hashes();
        if (locals == null) {
            locals = hashes.of(query.tokens(), query.blocks(), query.blockSize(), query.space());
        }
        long[] places = new long[locals.length];
        long place = SideBlocks.ROOT;
        for (int i = 0; i < places.length; i++) {
            place = SideBlocks.next(place, locals[i]);
            places[i] = place;
        }
        return places;
    }
}
