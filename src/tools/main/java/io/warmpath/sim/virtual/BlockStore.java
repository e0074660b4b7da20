package io.warmpath.sim.virtual;

/**
 * Memory behind a device: an engine's own in its host, or a pool that several engines write to and
 * fetch from. Every block that was on a device, the least recently used ones gone. One thread.
 * Copies are made at once and cost the device nothing.
 */
public final class BlockStore {

    private final int capacity;
    private final IdMap places;
    private final int[] ids;
    private final Recency recency;
    private int size;
    private final IdList evicted = new IdList();

    public BlockStore(int capacity) {
        this.capacity = capacity;
        places = new IdMap(capacity);
        ids = new int[capacity];
        recency = new Recency(capacity);
    }

    boolean holds(int id) {
        return places.get(id) != IdMap.NONE;
    }

    /** Blocks from {@code from} on that are here without a gap, up to {@code limit}. */
    public int depth(int[] blocks, int from, int limit) {
        int n = from;
        while (n < limit && holds(blocks[n])) {
            n++;
        }
        return n - from;
    }

    /** Adds the block, or makes it the most recently used; true when it is new. */
    boolean keep(int id) {
        int place = places.get(id);
        boolean fresh = place == IdMap.NONE;
        if (!fresh) {
            recency.unlink(place);
        } else {
            if (size < capacity) {
                place = size++;
            } else {
                place = recency.oldest();
                recency.unlink(place);
                places.remove(ids[place]);
                evicted.add(ids[place]);
            }
            ids[place] = id;
            places.put(id, place);
        }
        recency.append(place);
        return fresh;
    }

    IdList evicted() {
        return evicted;
    }
}
