package io.warmpath.sim.virtual;

import java.util.Arrays;

/**
 * Device memory of an engine in blocks: those that requests hold, and those that are kept until
 * their room is needed. One thread.
 *
 * <p>The rules are {@code sim.cache.KvCache}'s for GPU memory, and a test holds the two against
 * each other: room of prompt and answer is reserved when a request starts, computed blocks become
 * visible to all, equal ones are merged, unreferenced ones go least recently used first and leaves
 * before what they hang on. Only the names differ: an id here stands for a block's content and all
 * before it, so that nothing is hashed, compared or allocated: the lab plays millions of prompts.
 */
public final class BlockCache {

    private final int capacity;
    private final IdMap placeOf;

    // By place. Unreferenced blocks form a ring through the last place, oldest first.
    private int[] ids;
    private int[] references;
    private final Recency recency;
    private int[] freePlaces;
    private int freePlaceCount;
    private int placesUsed;

    /** Blocks that neither hold content nor are reserved. */
    private int free;

    private int unreferenced;
    private final IdList evicted = new IdList();

    public BlockCache(int capacity) {
        this.capacity = capacity;
        this.free = capacity;
        int first = Math.min(capacity, 1 << 12);
        placeOf = new IdMap(first);
        ids = new int[first];
        references = new int[first];
        recency = new Recency(first);
        freePlaces = new int[first];
    }

    public int capacity() {
        return capacity;
    }

    /** Room that running requests have taken. */
    public int referenced() {
        return capacity - free - unreferenced;
    }

    /** Cached blocks. */
    public int held() {
        return placesUsed - freePlaceCount;
    }

    /** Leading ones of the first {@code limit} blocks that are here. */
    public int depth(int[] blocks, int limit) {
        int n = 0;
        while (n < limit && placeOf.get(blocks[n]) != IdMap.NONE) {
            n++;
        }
        return n;
    }

    /**
     * Takes hold of those of the first {@code limit} blocks that are here without a gap, and
     * reserves room for the rest of {@code total}.
     *
     * @param places as long as {@code blocks}; where they are is written down, for {@link #commit}
     *     and {@link #release}
     * @return how many are here; -1: no room, nothing changed
     */
    public int acquire(int[] blocks, int limit, int total, int[] places) {
        int hits = 0;
        int idle = 0;
        for (; hits < limit; hits++) {
            int place = placeOf.get(blocks[hits]);
            if (place == IdMap.NONE) {
                break;
            }
            places[hits] = place;
            idle += references[place] == 0 ? 1 : 0;
        }
        int need = total - hits;
        if (free + unreferenced - idle < need) {
            return -1;
        }
        for (int i = 0; i < hits; i++) {
            hold(places[i]);
        }
        while (free < need) {
            evictOldest();
        }
        free -= need;
        return hits;
    }

    /**
     * A block that its request has reserved is computed, or loaded.
     *
     * @return false when it was here already: one copy is kept, the room is free again
     */
    public boolean commit(int[] blocks, int at, int[] places) {
        int place = placeOf.get(blocks[at]);
        boolean known = place != IdMap.NONE;
        if (known) {
            hold(place);
            free++;
        } else {
            place = newPlace();
            ids[place] = blocks[at];
            references[place] = 1;
            placeOf.put(blocks[at], place);
        }
        places[at] = place;
        return !known;
    }

    /** A request ends: its first blocks are kept, what it reserved and did not fill is free. */
    public void release(int[] places, int named, int unfilled) {
        for (int i = named - 1; i >= 0; i--) {
            int place = places[i];
            if (--references[place] == 0) {
                recency.append(place);
                unreferenced++;
            }
        }
        free += unfilled;
    }

    /** Ids that went since this was asked last; valid until the next call of anything else. */
    public IdList evicted() {
        return evicted;
    }

    public void forgetEvicted() {
        evicted.clear();
    }

    private void hold(int place) {
        if (references[place]++ == 0) {
            recency.unlink(place);
            unreferenced--;
        }
    }

    private void evictOldest() {
        int place = recency.oldest();
        recency.unlink(place);
        unreferenced--;
        free++;
        placeOf.remove(ids[place]);
        evicted.add(ids[place]);
        freePlaces[freePlaceCount++] = place;
    }

    private int newPlace() {
        if (freePlaceCount > 0) {
            return freePlaces[--freePlaceCount];
        }
        if (placesUsed == ids.length) {
            int more = Math.min(Math.max(capacity, placesUsed + 1), 2 * placesUsed);
            ids = Arrays.copyOf(ids, more);
            references = Arrays.copyOf(references, more);
            recency.grow(more);
            freePlaces = Arrays.copyOf(freePlaces, more);
        }
        return placesUsed++;
    }
}
