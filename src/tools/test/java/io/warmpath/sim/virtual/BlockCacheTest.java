package io.warmpath.sim.virtual;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.sim.cache.CacheEvent;
import io.warmpath.sim.cache.CachePolicy;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.KvCache;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The fast cache of the lab against the cache of the HTTP engines. */
class BlockCacheTest {
    private static final int CAPACITY = 40;

    /** A request that runs in both. */
    private record Both(
            int[] tokens, int[] ids, int prompt, KvCache.Lease lease, int[] places, int[] filled) {}

    private final Map<String, Integer> names = new HashMap<>();

    @Test
    void it_finds_keeps_and_evicts_what_the_simulated_engine_does() {
        for (long seed = 1; seed <= 20; seed++) {
            play(seed);
        }
    }

    private void play(long seed) {
        names.clear();
        SplittableRandom random = new SplittableRandom(seed);
        List<String> removed = new ArrayList<>();
        KvCache slow =
                new KvCache(
                        1,
                        CAPACITY,
                        0,
                        (parent, tokens, space) -> digest(parent, tokens[0]),
                        (tokens, landed) -> {
                            throw new AssertionError("there is no host tier");
                        },
                        CachePolicy.LRU,
                        e -> {
                            if (e instanceof CacheEvent.Removed r) {
                                r.digests().forEach(d -> removed.add(HexFormat.of().formatHex(d)));
                            }
                        });
        BlockCache fast = new BlockCache(CAPACITY);
        List<Both> running = new ArrayList<>();
        int evictions = 0;
        int refusals = 0;
        for (int step = 0; step < 4000; step++) {
            String at = "seed " + seed + ", step " + step;
            int what = random.nextInt(3);
            if (what == 0) {
                int[] tokens = new int[2 + random.nextInt(12)];
                for (int i = 0; i < tokens.length; i++) {
                    tokens[i] = random.nextInt(i == 0 ? 5 : 2);
                }
                int prompt = 1 + random.nextInt(tokens.length - 1);
                int[] ids = ids(tokens);
                int depth = fast.depth(ids, prompt - 1);
                int[] places = new int[ids.length];
                int hits = fast.acquire(ids, prompt - 1, tokens.length, places);
                boolean fits = hits >= 0;
                KvCache.Lease lease =
                        slow.acquire(tokens, prompt, tokens.length, CacheSpace.NONE, null);
                assertEquals(lease != null, fits, at);
                refusals += fits ? 0 : 1;
                if (lease != null) {
                    assertEquals(lease.gpuHits(), hits, at);
                    assertEquals(depth, hits, at);
                    running.add(new Both(tokens, ids, prompt, lease, places, new int[] {hits}));
                }
                evictions += removed.size();
                assertEquals(removed, evicted(fast), at);
                removed.clear();
            } else if (!running.isEmpty()) {
                int which = random.nextInt(running.size());
                Both b = running.get(which);
                int to = what == 1 ? b.prompt : b.tokens.length;
                b.lease.commit(b.tokens, to);
                for (; b.filled[0] < to; b.filled[0]++) {
                    fast.commit(b.ids, b.filled[0], b.places);
                }
                if (what == 2) {
                    b.lease.release();
                    fast.release(b.places, b.filled[0], b.tokens.length - b.filled[0]);
                    running.remove(which);
                }
            }
            assertEquals(slow.gpuEvictable(), CAPACITY - fast.referenced() - freeOf(slow), at);
        }
        assertTrue(evictions > 100 && refusals > 100, evictions + " and " + refusals);
    }

    private static int freeOf(KvCache cache) {
        return CAPACITY - cache.gpuUsed();
    }

    private List<String> evicted(BlockCache cache) {
        List<String> all = new ArrayList<>();
        Map<Integer, String> byId = new HashMap<>();
        names.forEach((name, id) -> byId.put(id, name));
        for (int i = 0; i < cache.evicted().size(); i++) {
            all.add(byId.get(cache.evicted().get(i)));
        }
        cache.forgetEvicted();
        return all;
    }

    /** An id per prefix, which is what the digest names too. */
    private int[] ids(int[] tokens) {
        int[] ids = new int[tokens.length];
        byte[] parent = null;
        for (int i = 0; i < tokens.length; i++) {
            parent = digest(parent, tokens[i]);
            String name = HexFormat.of().formatHex(parent);
            ids[i] = names.computeIfAbsent(name, k -> names.size());
        }
        return ids;
    }

    private static byte[] digest(byte[] parent, int token) {
        int before = parent == null ? 0 : parent.length;
        ByteBuffer out = ByteBuffer.allocate(before + 1);
        if (parent != null) {
            out.put(parent);
        }
        return out.put((byte) (token + 1)).array();
    }
}
