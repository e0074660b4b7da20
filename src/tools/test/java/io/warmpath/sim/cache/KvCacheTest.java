package io.warmpath.sim.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Single promises of the cache, in the order of the recorded engines' events. */
class KvCacheTest {
    private static final int BLOCK = 4;

    private final List<CacheEvent> events = new ArrayList<>();
    private final Deque<Runnable> copies = new ArrayDeque<>();

    @Test
    void a_repeated_prompt_computes_its_last_token_again() {
        KvCache cache = cache(16, 0);
        finish(cache, prompt(1, 16), 1);

        KvCache.Lease exact = acquire(cache, prompt(1, 16), 1);
        assertEquals(3, exact.gpuHits(), "4 blocks cached, one has to be computed again");
        events.clear();
        exact.commit(prompt(1, 17), 16);
        exact.release();
        assertEquals(List.of(), events, "the block was known: nothing to say");
        assertEquals(4, cache.contents(Medium.GPU).size());

        assertEquals(4, acquire(cache, prompt(1, 17), 1).gpuHits());
    }

    @Test
    void the_oldest_prefix_goes_first_and_tail_before_head() {
        KvCache cache = cache(8, 0);
        finish(cache, prompt(1, 12), 1);
        finish(cache, prompt(2, 12), 1);
        events.clear();

        KvCache.Lease third = acquire(cache, prompt(3, 15), 1);

        assertEquals(
                List.of(digest(prompt(1, 12), 2), digest(prompt(1, 12), 1)),
                ((CacheEvent.Removed) events.getFirst()).digests().stream().map(this::hex).toList(),
                "two blocks were missing: the tail of the first prompt");
        third.release();
        assertEquals(1, acquire(cache, prompt(1, 12), 1).gpuHits(), "its head is still there");
    }

    @Test
    void what_runs_is_never_evicted_and_what_does_not_fit_waits() {
        KvCache cache = cache(8, 0);
        KvCache.Lease running = acquire(cache, prompt(1, 20), 1);
        running.commit(prompt(1, 20), 20);

        assertNull(cache.acquire(prompt(2, 16), 15, 16, CacheSpace.NONE, null), "2 blocks free");
        running.release();
        assertNotNull(cache.acquire(prompt(2, 16), 15, 16, CacheSpace.NONE, null));
    }

    @Test
    void a_block_moves_to_the_host_before_it_leaves_the_gpu_and_comes_back() {
        KvCache cache = cache(4, 16);
        finish(cache, prompt(1, 12), 1);
        assertEquals(List.of("store GPU 3"), said());
        copies.remove().run();
        assertEquals(List.of("store HOST 3"), said());

        KvCache.Lease other = acquire(cache, prompt(2, 15), 1);
        assertEquals(List.of("remove GPU 3"), said());
        other.release();

        KvCache.Lease again = acquire(cache, prompt(1, 13), 1);
        assertEquals(0, again.gpuHits());
        assertEquals(3, again.hostHits());
        assertEquals(List.of(), said(), "nothing is on the GPU before the load has ended");
        again.loaded();
        assertEquals(List.of("store GPU 3"), said());
        again.release();
        assertEquals(3, cache.contents(Medium.HOST).size(), "the host keeps its copy");
    }

    @Test
    void a_block_stays_on_the_gpu_until_its_copy_has_landed() {
        KvCache cache = cache(4, 16);
        finish(cache, prompt(1, 12), 1);

        assertNull(
                cache.acquire(prompt(2, 16), 15, 16, CacheSpace.NONE, null),
                "the copy still reads the three blocks");
        copies.remove().run();
        assertNotNull(cache.acquire(prompt(2, 16), 15, 16, CacheSpace.NONE, null));
    }

    @Test
    void a_full_host_gives_up_its_oldest_tail() {
        KvCache cache = cache(4, 4);
        finish(cache, prompt(1, 12), 1);
        copies.remove().run();
        finish(cache, prompt(2, 12), 1);
        assertEquals(
                List.of(
                        "store GPU 3",
                        "store HOST 3",
                        "remove GPU 3",
                        "store GPU 3",
                        "remove HOST 1",
                        "remove HOST 1"),
                said(),
                "one host block was free, two tails of the first prompt make room");
        copies.remove().run();
        assertEquals(List.of("store HOST 3"), said());
    }

    @Test
    void salts_do_not_share_blocks() {
        KvCache cache = cache(16, 0);
        finish(cache, prompt(1, 12), 1);
        CacheSpace salted = new CacheSpace("tenant", null);
        KvCache.Lease lease = cache.acquire(prompt(1, 13), 12, 13, salted, null);
        assertNotNull(lease);
        assertEquals(0, lease.gpuHits());
    }

    @Test
    void a_cache_in_use_is_not_cleared() {
        KvCache cache = cache(16, 16);
        KvCache.Lease running = acquire(cache, prompt(1, 12), 1);
        running.commit(prompt(1, 12), 12);
        assertFalse(cache.clear());
        running.release();
        said();
        assertTrue(cache.clear());
        assertEquals(List.of("cleared"), said());
        copies.remove().run();
        assertEquals(List.of(), said(), "a copy that lands after the clear is dropped");
        assertEquals(0, cache.gpuUsed() + cache.hostUsed());
    }

    private KvCache cache(int gpu, int host) {
        return new KvCache(
                BLOCK,
                gpu,
                host,
                new SglangPageHasher(),
                (tokens, done) -> copies.add(done),
                CachePolicy.LRU,
                events::add);
    }

    private static int[] prompt(int first, int length) {
        return IntStream.range(0, length).map(i -> first * 1000 + i).toArray();
    }

    private KvCache.Lease acquire(KvCache cache, int[] prompt, int answer) {
        KvCache.Lease lease =
                cache.acquire(prompt, prompt.length, prompt.length + answer, CacheSpace.NONE, null);
        assertNotNull(lease);
        return lease;
    }

    private void finish(KvCache cache, int[] prompt, int answer) {
        KvCache.Lease lease = acquire(cache, prompt, answer);
        lease.loaded();
        lease.commit(prompt, prompt.length);
        lease.release();
    }

    private String digest(int[] tokens, int block) {
        byte[] at = null;
        for (int i = 0; i <= block; i++) {
            int[] one = Arrays.copyOfRange(tokens, i * BLOCK, (i + 1) * BLOCK);
            at = new SglangPageHasher().digest(at, one, CacheSpace.NONE);
        }
        return hex(at);
    }

    private String hex(byte[] digest) {
        return HexFormat.of().formatHex(digest);
    }

    /** What was published since the last call. */
    private List<String> said() {
        List<String> said =
                events.stream()
                        .map(
                                e ->
                                        switch (e) {
                                            case CacheEvent.Stored s ->
                                                    "store "
                                                            + s.medium()
                                                            + " "
                                                            + s.digests().size();
                                            case CacheEvent.Removed r ->
                                                    "remove "
                                                            + r.medium()
                                                            + " "
                                                            + r.digests().size();
                                            case CacheEvent.Cleared c -> "cleared";
                                        })
                        .toList();
        events.clear();
        return said;
    }
}
