package io.warmpath.prefix;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks lie in which layer group of one slot, whose model has caches of several kinds: full
 * attention, sliding windows, states. A block has one name, the engine's hash of all that leads to
 * it, in every group. One thread writes, any thread asks. About 160 bytes of heap a block. Unlike
 * the index, this counts copies: an engine may store a block again in other memory, when another
 * group no longer lets it use the first one, and then removes each by itself.
 */
public final class SideBlocks {
    /** Groups of one slot; what is beyond is not taken. */
    static final int MAX_GROUPS = Long.SIZE;

    /** Place before the first block. */
    static final long ROOT = 0x6a09e667f3bcc908L;

    /** No place is known: nothing tells what leads to the block. */
    private static final long UNKNOWN = 0;

    private final Map<Long, Block> byName = new HashMap<>();
    private final Map<Long, Block> byPlace = new ConcurrentHashMap<>();

    /** Copies beyond the first. */
    private final Map<Copy, Integer> copies = new HashMap<>();

    private volatile List<Group> groups = List.of();

    /**
     * A layer group.
     *
     * @param id as the engine numbers it
     * @param tail of a prefix, in blocks of this group: these must be there for the prefix to
     *     count, or all of a shorter one. {@link #EVERY} in full attention, 1 for a state, 0 when
     *     nobody knows what the group needs and it is left out
     * @param stride blocks of the index in one of this group
     */
    public record Group(int id, int tail, int stride) {
        /** The whole prefix must be there; the index itself says how much is. */
        public static final int EVERY = Integer.MAX_VALUE;

        public boolean isFull() {
            return tail == EVERY;
        }
    }

    private record Copy(long name, int group) {}

    private static final class Block {
        long place;

        /** Bit set by position in the list of groups. Written by one thread. */
        volatile long groups;
    }

    /** For a file: everything that is known. */
    public record Memory(List<Group> groups, List<Held> blocks) {
        public static final Memory NONE = new Memory(List.of(), List.of());

        public Memory {
            groups = List.copyOf(groups);
            blocks = List.copyOf(blocks);
        }
    }

    /**
     * A block in a file.
     *
     * @param groups bit set by position in the list of groups
     * @param copies beyond the first, by position in the list of groups; empty when there is none
     */
    public record Held(long name, long place, long groups, List<Integer> copies) {
        public Held {
            copies = List.copyOf(copies);
        }
    }

    SideBlocks() {}

    /** Place of a block by the place before it and its local hash; never that of no block. */
    static long next(long place, long local) {
        long h = place * 0x9e3779b97f4a7c15L + local;
        h = (h ^ (h >>> 30)) * 0xbf58476d1ce4e5b9L;
        h = (h ^ (h >>> 27)) * 0x94d049bb133111ebL;
        h ^= h >>> 31;
        return h == UNKNOWN ? 1 : h;
    }

    /** The group of this number, null when it was not announced. */
    public @Nullable Group group(int id) {
        for (Group g : groups) {
            if (g.id == id) {
                return g;
            }
        }
        return null;
    }

    /** A group was heard of; what it is does not change. */
    public void announce(Group group) {
        if (group(group.id) == null && groups.size() < MAX_GROUPS) {
            List<Group> more = new ArrayList<>(groups);
            more.add(group);
            groups = List.copyOf(more);
        }
    }

    /**
     * Blocks came into a group.
     *
     * @param parent name of the block before the first; null at the start of a prompt
     * @param locals local hash of each block, or null when these are not consecutive blocks: then
     *     another group has to tell where they lie, before or after this
     */
    public void stored(Group group, @Nullable Long parent, long[] names, long @Nullable [] locals) {
        int number = groups.indexOf(group);
        long bit = 1L << number;
        long place = locals == null ? UNKNOWN : placeOf(parent);
        for (int i = 0; i < names.length; i++) {
            Block block = byName.computeIfAbsent(names[i], n -> new Block());
            if (place != UNKNOWN && locals != null) {
                place = next(place, locals[i]);
                put(block, place);
            }
            if ((block.groups & bit) == 0) {
                block.groups |= bit; // one writer
            } else {
                copies.merge(new Copy(names[i], number), 1, Integer::sum);
            }
        }
    }

    private long placeOf(@Nullable Long parent) {
        if (parent == null) {
            return ROOT;
        }
        Block block = byName.get(parent);
        return block == null ? UNKNOWN : block.place;
    }

    private void put(Block block, long place) {
        if (block.place != place) {
            byPlace.remove(block.place, block);
            block.place = place;
            byPlace.put(place, block);
        }
    }

    /** Blocks left a group; those of which it has no other copy. */
    public long[] removed(Group group, long[] names) {
        int number = groups.indexOf(group);
        long[] gone = new long[names.length];
        int n = 0;
        for (long name : names) {
            Copy copy = new Copy(name, number);
            Integer more = copies.isEmpty() ? null : copies.get(copy);
            if (more == null) {
                leave(name, 1L << number);
                gone[n++] = name;
            } else if (more == 1) {
                copies.remove(copy);
            } else {
                copies.put(copy, more - 1);
            }
        }
        return n == names.length ? names : Arrays.copyOf(gone, n);
    }

    private void leave(long name, long bit) {
        Block block = byName.get(name);
        if (block == null) {
            return;
        }
        block.groups &= ~bit; // one writer
        if (block.groups == 0) {
            byName.remove(name);
            byPlace.remove(block.place, block);
        }
    }

    /** Every block left every group. */
    public void clear() {
        byName.clear();
        byPlace.clear();
        copies.clear();
    }

    /** Whether some layers attend to the whole prompt, so that the index knows how much counts. */
    boolean hasFull() {
        for (Group g : groups) {
            if (g.isFull()) {
                return true;
            }
        }
        return false;
    }

    /**
     * As {@link #usable}, of a model without full attention; nothing when no group is understood.
     */
    int usableAlone(long[] places, int most) {
        for (Group g : groups) {
            if (g.tail != 0) {
                return usable(places, most);
            }
        }
        return 0;
    }

    /**
     * The longest prefix of which every group has what it needs.
     *
     * @param places of the prompt's blocks, at least {@code most}
     * @param most blocks, such as full attention holds
     */
    int usable(long[] places, int most) {
        List<Group> all = groups;
        int depth = most;
        int before;
        do {
            before = depth;
            for (int i = 0; i < all.size(); i++) {
                Group g = all.get(i);
                if (g.tail != 0) {
                    // What one group cuts off may be the end that another one had: until none cuts.
                    depth = fitting(g, 1L << i, places, depth);
                }
            }
        } while (depth != before);
        return depth;
    }

    /** The longest prefix, at most {@code depth}, that ends with blocks this group needs. */
    private int fitting(Group g, long bit, long[] places, int depth) {
        int end = depth - depth % g.stride;
        if (g.isFull()) {
            return end;
        }
        int run = 0;
        for (int at = end; at > 0; at -= g.stride) {
            if (!holds(places[at - 1], bit)) {
                run = 0;
                end = at - g.stride;
            } else if (++run == g.tail) {
                return end;
            }
        }
        return end;
    }

    private boolean holds(long place, long bit) {
        Block block = byPlace.get(place);
        return block != null && (block.groups & bit) != 0;
    }

    /** What is to be remembered; on the writer's thread. */
    public Memory memory() {
        List<Group> all = groups;
        List<Held> blocks = new ArrayList<>(byName.size());
        byName.forEach((name, b) -> blocks.add(held(name, b, all.size())));
        return new Memory(all, blocks);
    }

    private Held held(long name, Block block, int count) {
        List<Integer> more = new ArrayList<>();
        for (int i = 0; i < count && !copies.isEmpty(); i++) {
            more.add(copies.getOrDefault(new Copy(name, i), 0));
        }
        boolean none = more.stream().allMatch(n -> n == 0);
        return new Held(name, block.place, block.groups, none ? List.of() : more);
    }

    /** Takes up what was remembered, while nothing is known. */
    public void restore(Memory memory) {
        groups = memory.groups();
        for (Held h : memory.blocks()) {
            Block block = new Block();
            block.groups = h.groups();
            byName.put(h.name(), block);
            if (h.place() != UNKNOWN) {
                put(block, h.place());
            }
            for (int i = 0; i < h.copies().size(); i++) {
                if (h.copies().get(i) > 0) {
                    copies.put(new Copy(h.name(), i), h.copies().get(i));
                }
            }
        }
    }
}
