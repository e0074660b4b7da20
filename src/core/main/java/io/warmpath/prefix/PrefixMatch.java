package io.warmpath.prefix;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.function.ObjIntConsumer;

/**
 * The longest cached prefix of one prompt on each worker, per tier.
 *
 * <p>Immutable, safe to share. Depths are in blocks and cumulative: {@code depth(slot, HOST)}
 * counts the blocks from the start that lie in GPU or host memory without a gap, so GPU &le; HOST
 * &le; DISK &le; EXTERNAL. Slots without a match have depth 0 everywhere.
 *
 * <p>Answers by slot number. A slot that was closed since shows the depths of its number's present
 * owner: a request routed by an older snapshot of the fleet may expect too much of a worker that
 * restarts in this moment. It costs one cold prefill, never a wrong answer.
 */
public final class PrefixMatch {
    private final int blockSize;
    private final int blocks;
    private final int[] slots;
    private final int[] depths;

    /**
     * @param blocks complete blocks of the prompt
     * @param slots slot numbers with a match, ascending
     * @param depths {@link Tier#COUNT} cumulative depths per entry of {@code slots}
     */
    public PrefixMatch(int blockSize, int blocks, int[] slots, int[] depths) {
        if (depths.length != slots.length * Tier.COUNT) {
            throw new IllegalArgumentException(
                    depths.length + " depths for " + slots.length + " slots");
        }
        this.blockSize = blockSize;
        this.blocks = blocks;
        this.slots = slots;
        this.depths = depths;
    }

    /** A prompt that nobody is known to hold. */
    public static PrefixMatch none(int blockSize, int blocks) {
        return new PrefixMatch(blockSize, blocks, new int[0], new int[0]);
    }

    /**
     * Per slot and tier the larger depth of two answers about one prompt, such as what events say
     * and what decisions predict. Cumulative as both are. O(slots).
     *
     * @throws IllegalArgumentException when they are not about the same blocks
     */
    public static PrefixMatch larger(PrefixMatch a, PrefixMatch b) {
        if (a.blockSize != b.blockSize || a.blocks != b.blocks) {
            throw new IllegalArgumentException(
                    "%s blocks of %s tokens are not %s of %s"
                            .formatted(a.blocks, a.blockSize, b.blocks, b.blockSize));
        }
        return merged(a, b);
    }

    /**
     * Two answers about two prompts of the same meaning, for slots of which none is in both: kinds
     * of engines that write a prompt differently. O(slots).
     */
    public static PrefixMatch beside(PrefixMatch a, PrefixMatch b) {
        return a.blocks >= b.blocks ? merged(a, b) : merged(b, a);
    }

    /** The same depths, called blocks of another size: what an answer about {@link Bigrams} is. */
    public PrefixMatch inBlocksOf(int size) {
        return new PrefixMatch(size, blocks, slots, depths);
    }

    /**
     * Answers about several prompts of one request as one: per slot and tier the sum of the blocks
     * that can be used, which the one with a prompt's last token never can. O(prompts * slots).
     *
     * @param each of each prompt, one answer per block size
     * @param tokens length of each prompt
     * @return one answer per block size that was known of all of them
     */
    public static List<PrefixMatch> together(List<List<PrefixMatch>> each, int[] tokens) {
        Map<Integer, Sum> sums = new LinkedHashMap<>();
        for (int i = 0; i < tokens.length; i++) {
            for (PrefixMatch one : each.get(i)) {
                sums.computeIfAbsent(one.blockSize, size -> new Sum()).add(one, tokens[i]);
            }
        }
        return sums.entrySet().stream()
                .filter(s -> s.getValue().prompts == tokens.length)
                .map(s -> s.getValue().match(s.getKey()))
                .toList();
    }

    private static final class Sum {
        private final NavigableMap<Integer, int[]> depths = new TreeMap<>();
        private int prompts;
        private int blocks;

        void add(PrefixMatch one, int tokens) {
            int usable = Math.max(0, tokens - 1) / one.blockSize;
            prompts++;
            blocks += one.blocks;
            for (int i = 0; i < one.slots.length; i++) {
                int[] sum = depths.computeIfAbsent(one.slots[i], slot -> new int[Tier.COUNT]);
                for (int t = 0; t < Tier.COUNT; t++) {
                    sum[t] += Math.min(usable, one.depths[i * Tier.COUNT + t]);
                }
            }
        }

        PrefixMatch match(int blockSize) {
            return new PrefixMatch(
                    blockSize,
                    blocks,
                    depths.keySet().stream().mapToInt(Integer::intValue).toArray(),
                    depths.values().stream().flatMapToInt(Arrays::stream).toArray());
        }
    }

    /** The answer for some of its slots. O(slots). */
    public PrefixMatch only(IntPredicate slotNumber) {
        int[] kept = new int[slots.length];
        int[] theirs = new int[depths.length];
        int n = 0;
        for (int i = 0; i < slots.length; i++) {
            if (slotNumber.test(slots[i])) {
                kept[n] = slots[i];
                System.arraycopy(depths, i * Tier.COUNT, theirs, n * Tier.COUNT, Tier.COUNT);
                n++;
            }
        }
        return new PrefixMatch(
                blockSize, blocks, Arrays.copyOf(kept, n), Arrays.copyOf(theirs, n * Tier.COUNT));
    }

    /**
     * Each depth times the part of its slot, rounded down. O(slots).
     *
     * @param parts by slot number, 0 to 1; those beyond its end are 1
     */
    PrefixMatch scaled(float[] parts) {
        return changed(
                (tiers, slot) -> {
                    float part = slot < parts.length ? parts[slot] : 1;
                    for (int t = 0; part != 1 && t < tiers.length; t++) {
                        tiers[t] = (int) (part * (double) tiers[t]);
                    }
                });
    }

    /**
     * Other depths of the same slots. O(slots).
     *
     * @param change given a slot's number and its depths, of which it may lower some
     */
    PrefixMatch changed(ObjIntConsumer<int[]> change) {
        int[] less = new int[depths.length];
        int[] tiers = new int[Tier.COUNT];
        for (int i = 0; i < slots.length; i++) {
            System.arraycopy(depths, i * Tier.COUNT, tiers, 0, Tier.COUNT);
            change.accept(tiers, slots[i]);
            System.arraycopy(tiers, 0, less, i * Tier.COUNT, Tier.COUNT);
        }
        return new PrefixMatch(blockSize, blocks, slots, less);
    }

    private static PrefixMatch merged(PrefixMatch a, PrefixMatch b) {
        if (b.slots.length == 0) {
            return a;
        }
        int[] slots = new int[a.slots.length + b.slots.length];
        int[] depths = new int[slots.length * Tier.COUNT];
        int n = 0;
        for (int i = 0, j = 0; i < a.slots.length || j < b.slots.length; n++) {
            boolean fromA = j == b.slots.length || (i < a.slots.length && a.slots[i] <= b.slots[j]);
            boolean fromB = i == a.slots.length || (j < b.slots.length && b.slots[j] <= a.slots[i]);
            slots[n] = fromA ? a.slots[i] : b.slots[j];
            for (int t = 0; t < Tier.COUNT; t++) {
                depths[n * Tier.COUNT + t] =
                        Math.max(
                                fromA ? a.depths[i * Tier.COUNT + t] : 0,
                                fromB ? b.depths[j * Tier.COUNT + t] : 0);
            }
            i += fromA ? 1 : 0;
            j += fromB ? 1 : 0;
        }
        return new PrefixMatch(
                a.blockSize,
                a.blocks,
                Arrays.copyOf(slots, n),
                Arrays.copyOf(depths, n * Tier.COUNT));
    }

    public int blockSize() {
        return blockSize;
    }

    /** Complete blocks of the prompt. */
    public int blocks() {
        return blocks;
    }

    /** Heap that only this takes, at most. */
    public long heapBytes() {
        return 64 + 4L * (slots.length + depths.length);
    }

    /** Number of slots with a match. */
    public int size() {
        return slots.length;
    }

    /** Number of the {@code i}-th matching slot, ascending. */
    public int slotAt(int i) {
        return slots[i];
    }

    /**
     * Contiguous blocks from the start in {@code tier} or a faster one; 0 for an unknown slot.
     * O(log n).
     */
    public int depth(WorkerSlot slot, Tier tier) {
        return depthAt(indexOf(slot), tier);
    }

    /** Which of the matching slots this is, or a negative number when it is none. O(log n). */
    public int indexOf(WorkerSlot slot) {
        return indexOf(slot.index());
    }

    int indexOf(int slotNumber) {
        return Arrays.binarySearch(slots, slotNumber);
    }

    /** As {@link #depth}, for a place that {@link #indexOf} found; 0 for a negative one. */
    public int depthAt(int i, Tier tier) {
        return i < 0 ? 0 : depths[i * Tier.COUNT + tier.number()];
    }
}
