package io.warmpath.routing.scenario;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * The KV blocks of one engine: blocks in use, and beside them the least recently used rest. One
 * thread.
 *
 * <p>A block's name says its whole prefix. A request's blocks are freed tail first, so that leaves
 * are evicted before what they hang on.
 */
final class BlockCache {
    private final int capacity;

    /** Users of each named block. */
    private final Map<Long, Integer> named = new HashMap<>();

    private final LinkedHashSet<Long> unused = new LinkedHashSet<>();

    /** Blocks in use that have no name yet. */
    private int unnamed;

    BlockCache(int capacity) {
        this.capacity = capacity;
    }

    /** Leading blocks that are there, at most so many. */
    int depth(long[] chain, int most) {
        int depth = 0;
        while (depth < most && named.containsKey(chain[depth])) {
            depth++;
        }
        return depth;
    }

    /**
     * Takes the first {@code hits} blocks into use, and room for the others.
     *
     * @param evicted names of blocks that had to go are added
     * @return false when there is no room: nothing changes
     */
    boolean take(long[] chain, int hits, int others, List<Long> evicted) {
        int revived = 0;
        for (int i = 0; i < hits; i++) {
            revived += unused.contains(chain[i]) ? 1 : 0;
        }
        int free = capacity - named.size() - unnamed;
        if (others > free + unused.size() - revived) {
            return false;
        }
        for (int i = 0; i < hits; i++) {
            unused.remove(chain[i]);
            named.merge(chain[i], 1, Integer::sum);
        }
        for (; free < others; free++) {
            long oldest = unused.removeFirst();
            named.remove(oldest);
            evicted.add(oldest);
        }
        unnamed += others;
        return true;
    }

    /** One of the room's blocks is full now; false when another request has made the same one. */
    boolean name(long block) {
        unnamed--;
        return named.merge(block, 1, Integer::sum) == 1;
    }

    /** The request is over: its first {@code names} blocks and {@code room} without a name. */
    void release(long[] chain, int names, int room) {
        unnamed -= room;
        for (int i = names - 1; i >= 0; i--) {
            if (named.merge(chain[i], -1, Integer::sum) == 0) {
                unused.add(chain[i]);
            }
        }
    }

    /** For the invariant: blocks in use. */
    int used() {
        return named.size() - unused.size() + unnamed;
    }

    /** Blocks with a name, in use or not. */
    int held() {
        return named.size();
    }
}
