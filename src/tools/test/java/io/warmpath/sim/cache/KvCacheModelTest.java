package io.warmpath.sim.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random requests against the cache, watched by a literal model that knows only the published
 * events: two sets of block names, and the names each running request holds.
 */
class KvCacheModelTest {
    private static final int BLOCK = 4;
    private static final int STEPS = 4_000;
    private static final BlockHasher HASHER = new SglangPageHasher();

    /** A request under way, in the model's terms. */
    private record Running(
            KvCache.Lease lease,
            int[] tokens,
            int promptLength,
            CacheSpace space,
            int[] progress) {}

    private final Set<String> onGpu = new HashSet<>();
    private final Set<String> onHost = new HashSet<>();
    private final List<CacheEvent> published = new ArrayList<>();
    private final Deque<Runnable> copies = new ArrayDeque<>();

    /** At most these blocks are kept on the GPU by the copies under way, in their order. */
    private final Deque<List<String>> copying = new ArrayDeque<>();

    private final List<Running> running = new ArrayList<>();
    private final List<KvCache.Prefetch> prefetches = new ArrayList<>();
    private int landed;

    @ParameterizedTest(name = "{0} GPU blocks, {1} host blocks, seed {2}")
    @CsvSource({
        "24, 0, 1",
        "24, 0, 2",
        "24, 12, 3",
        "24, 24, 4",
        "24, 60, 5",
        "24, 60, 6",
        "60, 200, 7",
        "8, 40, 8",
        "24, 5, 9",
        "200, 400, 10"
    })
    void published_events_replayed_into_a_set_are_the_cache(int gpu, int host, long seed) {
        play(gpu, host, seed, false);
    }

    /** What any of them wrote comes back from a pool while other things go on. */
    @ParameterizedTest(name = "{0} GPU blocks, {1} host blocks, seed {2}")
    @CsvSource({"24, 24, 11", "24, 60, 12", "8, 40, 13", "24, 5, 14", "60, 30, 15"})
    void so_they_are_with_pages_from_a_pool(int gpu, int host, long seed) {
        play(gpu, host, seed, true);
    }

    /** A prompt's pages on their way; some land, some after others have brought the same. */
    private void prefetch(KvCache cache, PagePool pool, RandomGenerator random) {
        int[] tokens = random.ints(6 * BLOCK, 0, 2).toArray();
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = i % BLOCK == 0 ? tokens[i] : 7;
        }
        KvCache.Prefetch begun = cache.prefetch(tokens, tokens.length, CacheSpace.NONE, pool);
        if (begun != null) {
            assertTrue(begun.blocks() > 0);
            prefetches.add(begun);
        }
    }

    private void play(int gpu, int host, long seed, boolean pooled) {
        PagePool pool = new PagePool(100_000);
        KvCache cache =
                new KvCache(
                        BLOCK,
                        gpu,
                        host,
                        HASHER,
                        (tokens, done) -> copies.add(done),
                        CachePolicy.LRU,
                        event -> {
                            published.add(event);
                            if (event instanceof CacheEvent.Stored s
                                    && s.medium() == Medium.HOST
                                    && s.space().equals(CacheSpace.NONE)) {
                                pool.store(s.digests());
                            }
                        });
        RandomGenerator random = new SplittableRandom(seed);
        int hits = 0;
        int waits = 0;
        int removals = 0;
        int hostHits = 0;
        for (int step = 0; step < STEPS; step++) {
            if (pooled && random.nextInt(4) == 0) {
                prefetch(cache, pool, random);
                removals += replay(cache);
                if (!prefetches.isEmpty() && random.nextBoolean()) {
                    prefetches.remove(random.nextInt(prefetches.size())).landed();
                    landed++;
                    replay(cache);
                }
            }
            switch (random.nextInt(10)) {
                case 0, 1, 2, 3 -> {
                    Running r = start(cache, gpu, random);
                    if (r == null) {
                        waits++;
                    } else {
                        hits += r.lease().gpuHits();
                        hostHits += r.lease().hostHits();
                        running.add(r);
                    }
                }
                case 4, 5, 6 -> advance(random);
                case 7, 8 -> {
                    if (!copies.isEmpty()) {
                        copies.remove().run();
                        copying.remove();
                    }
                }
                default -> {
                    if (random.nextInt(40) == 0) {
                        assertEquals(running.isEmpty(), cache.clear(), "clear while idle only");
                    } else if (!running.isEmpty()) {
                        running.remove(random.nextInt(running.size())).lease().release();
                    }
                }
            }
            removals += replay(cache);
            assertEquals(onGpu, names(cache.contents(Medium.GPU)), "GPU after step " + step);
            assertEquals(onHost, names(cache.contents(Medium.HOST)), "host after step " + step);
            assertTrue(cache.gpuUsed() <= gpu && onGpu.size() <= cache.gpuUsed());
            assertTrue(onHost.size() <= cache.hostUsed() && cache.hostUsed() <= host);
        }
        for (Running r : running) {
            r.lease().release();
        }
        prefetches.forEach(KvCache.Prefetch::landed);
        while (!copies.isEmpty()) {
            copies.remove().run();
        }
        replay(cache);
        assertEquals(onGpu.size(), cache.gpuUsed(), "idle: every used block is a cached one");
        assertEquals(onGpu.size(), cache.gpuEvictable(), "idle: every cached block may go");
        assertEquals(onHost.size(), cache.hostUsed());
        // The run must have met what it is meant to meet.
        assertTrue(hits > 100, "hits " + hits);
        assertTrue(!pooled || landed > 20, "prefetches " + landed);
        assertTrue(gpu >= 200 || (waits > 20 && removals > 20), waits + " waits, " + removals);
        assertTrue(host < 24 || gpu >= 60 || hostHits > 20, "host hits " + hostHits);
    }

    private @Nullable Running start(KvCache cache, int gpu, RandomGenerator random) {
        int promptLength = 1 + random.nextInt(6 * BLOCK);
        int total = promptLength + 1 + random.nextInt(2 * BLOCK);
        int[] tokens = random.ints(total, 0, 2).toArray();
        // Two alternatives per block at most, so that prefixes are shared all the time.
        for (int i = 0; i < total; i++) {
            tokens[i] = i % BLOCK == 0 ? tokens[i] : 7;
        }
        CacheSpace space = random.nextInt(8) == 0 ? new CacheSpace("s", null) : CacheSpace.NONE;
        List<String> chain = chain(tokens, promptLength - 1, space);
        int expectedGpu = run(chain, 0, onGpu);
        int expectedHost = run(chain, expectedGpu, onHost);
        Set<String> path = new HashSet<>(chain.subList(0, expectedGpu));
        KvCache.Lease lease = cache.acquire(tokens, promptLength, total, space, null);
        if (lease == null) {
            // Everything that is neither held nor a hit could have made room.
            Set<String> held = new HashSet<>(path);
            int reserved = 0;
            for (Running r : running) {
                int known = r.lease().blocks();
                held.addAll(chain(r.tokens(), r.tokens().length, r.space()).subList(0, known));
                reserved += cache.blocksFor(r.tokens().length) - known;
            }
            held.addAll(copying.stream().flatMap(List::stream).toList());
            held.retainAll(onGpu);
            int need = cache.blocksFor(total) - expectedGpu;
            int room = gpu - held.size() - reserved;
            assertTrue(need > room, "refused although " + need + " fit into " + room);
            return null;
        }
        assertEquals(expectedGpu, lease.gpuHits(), "prefix on the GPU");
        assertEquals(expectedHost, lease.hostHits(), "continued on the host");
        return new Running(lease, tokens, promptLength, space, new int[1]);
    }

    private void advance(RandomGenerator random) {
        if (running.isEmpty()) {
            return;
        }
        Running r = running.get(random.nextInt(running.size()));
        if (r.progress()[0] == 0) {
            r.lease().loaded();
            r.progress()[0] = r.promptLength();
        } else {
            r.progress()[0] = Math.min(r.tokens().length, r.progress()[0] + random.nextInt(BLOCK));
        }
        r.lease().commit(r.tokens(), r.progress()[0]);
        while (copying.size() < copies.size()) {
            copying.add(chain(r.tokens(), r.lease().blocks() * BLOCK, r.space()));
        }
    }

    /** Applies what was published since the last call, event by event. */
    private int replay(KvCache cache) {
        Set<String> before = new HashSet<>(onGpu);
        before.addAll(onHost);
        Set<String> after = names(cache.contents(Medium.GPU));
        after.addAll(names(cache.contents(Medium.HOST)));
        before.retainAll(after);
        int removals = 0;
        for (CacheEvent event : published) {
            switch (event) {
                case CacheEvent.Stored s -> {
                    Set<String> set = s.medium() == Medium.GPU ? onGpu : onHost;
                    String parent = s.parent() == null ? null : name(s.parent());
                    assertTrue(parent == null || set.contains(parent), "stored without parent");
                    assertEquals(
                            names(s.digests()).size() * BLOCK, s.tokens().length, "tokens of run");
                    assertEquals(
                            chainFrom(s.parent(), s.tokens(), s.space()),
                            s.digests().stream().map(KvCacheModelTest::name).toList());
                    set.addAll(names(s.digests()));
                }
                case CacheEvent.Removed r -> {
                    Set<String> set = r.medium() == Medium.GPU ? onGpu : onHost;
                    for (byte[] digest : r.digests()) {
                        assertTrue(set.remove(name(digest)), "removed twice or never stored");
                        removals++;
                    }
                }
                case CacheEvent.Cleared c -> {
                    assertNotNull(c);
                    onGpu.clear();
                    onHost.clear();
                    before.clear();
                }
            }
            for (String block : before) {
                assertTrue(
                        onGpu.contains(block) || onHost.contains(block),
                        "a block that stays cached was invisible for a moment");
            }
        }
        published.clear();
        return removals;
    }

    private static int run(List<String> chain, int from, Set<String> set) {
        int i = from;
        while (i < chain.size() && set.contains(chain.get(i))) {
            i++;
        }
        return i - from;
    }

    private static List<String> chain(int[] tokens, int length, CacheSpace space) {
        return chainFrom(null, Arrays.copyOf(tokens, length / BLOCK * BLOCK), space);
    }

    private static List<String> chainFrom(
            byte @Nullable [] parent, int[] tokens, CacheSpace space) {
        List<String> names = new ArrayList<>();
        byte[] at = parent;
        for (int i = 0; i < tokens.length; i += BLOCK) {
            at = HASHER.digest(at, Arrays.copyOfRange(tokens, i, i + BLOCK), space);
            names.add(name(at));
        }
        return names;
    }

    private static Set<String> names(List<byte[]> digests) {
        Set<String> names = new HashSet<>();
        digests.forEach(d -> names.add(name(d)));
        return names;
    }

    private static String name(byte[] digest) {
        return HexFormat.of().formatHex(digest, 0, 8);
    }
}
