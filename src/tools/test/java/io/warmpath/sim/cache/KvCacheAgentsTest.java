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
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What outlives the least recently used: pins, priorities, parked leases; and what goes before. */
class KvCacheAgentsTest {
    private static final int BLOCK = 4;
    private static final long SECOND = 1_000_000_000L;

    private final List<CacheEvent> events = new ArrayList<>();
    private final Deque<Runnable> copies = new ArrayDeque<>();
    private long now = 1;

    @Test
    void a_pinned_prefix_outlives_what_would_have_pushed_it_out_of_the_host() {
        for (boolean pinned : List.of(true, false)) {
            KvCache cache = cache(8, 8, 4, false);
            finish(cache, prompt(1, 12), 0);
            if (pinned) {
                assertEquals(
                        new KvCache.Pinned(3, null),
                        cache.pin(prompt(1, 14), CacheSpace.NONE, 300 * SECOND));
            }
            for (int i = 2; i < 8; i++) {
                finish(cache, prompt(i, 12), 0);
            }
            KvCache.Lease again = acquire(cache, prompt(1, 13), 0);
            assertEquals(pinned ? 3 : 0, again.gpuHits() + again.hostHits());
            assertEquals(0, again.gpuHits(), "the GPU gives it up either way");
        }
    }

    @Test
    void a_pin_is_over_when_its_time_is_and_every_hit_begins_it_anew() {
        KvCache cache = cache(8, 8, 4, false);
        finish(cache, prompt(1, 8), 0);
        cache.pin(prompt(1, 8), CacheSpace.NONE, 300 * SECOND);
        now += 200 * SECOND;
        finish(cache, prompt(1, 9), 0);
        now += 299 * SECOND;
        assertEquals(2, cache.pinned());
        now += 2 * SECOND;
        assertEquals(0, cache.pinned());
        for (int i = 2; i < 8; i++) {
            finish(cache, prompt(i, 12), 0);
        }
        assertEquals(0, acquire(cache, prompt(1, 13), 0).hostHits());
    }

    @Test
    void what_is_pinned_twice_keeps_the_longer_time() {
        KvCache cache = cache(8, 8, 4, false);
        finish(cache, prompt(1, 8), 0);
        cache.pin(prompt(1, 8), CacheSpace.NONE, 600 * SECOND);
        cache.pin(prompt(1, 8), CacheSpace.NONE, 300 * SECOND);
        now += 500 * SECOND;
        assertEquals(2, cache.pinned());
    }

    @Test
    void a_budget_that_is_used_up_pins_a_beginning_or_nothing() {
        KvCache cache = cache(16, 16, 4, false);
        finish(cache, prompt(1, 12), 0);
        finish(cache, prompt(2, 12), 0);
        String exhausted = "Pin budget exhausted (16/16 tokens pinned)";
        assertEquals(
                new KvCache.Pinned(3, null), cache.pin(prompt(1, 12), CacheSpace.NONE, SECOND));
        assertEquals(
                new KvCache.Pinned(1, exhausted),
                cache.pin(prompt(2, 12), CacheSpace.NONE, 10 * SECOND));
        assertEquals(
                new KvCache.Pinned(3, null), cache.pin(prompt(1, 12), CacheSpace.NONE, SECOND));
        now += 5 * SECOND;
        assertEquals(
                new KvCache.Pinned(3, null),
                cache.pin(prompt(2, 12), CacheSpace.NONE, SECOND),
                "the first one's time is over");
        assertEquals(
                new KvCache.Pinned(0, null), cache.pin(prompt(3, 12), CacheSpace.NONE, SECOND));
        assertEquals(
                new KvCache.Pinned(0, null),
                cache.pin(prompt(1, 12), new CacheSpace("salt", null), SECOND));
    }

    @Test
    void what_the_host_lacks_is_copied_when_it_is_pinned() {
        KvCache cache = cache(8, 4, 3, false);
        finish(cache, prompt(1, 8), 0);
        KvCache.Lease busy = acquire(cache, prompt(2, 14), 0);
        busy.commit(prompt(2, 14), 14); // its copies are under way, and the host is full
        assertEquals(2, cache.contents(Medium.HOST).size());
        assertEquals(
                new KvCache.Pinned(2, "Host memory is full"),
                cache.pin(prompt(2, 12), CacheSpace.NONE, SECOND));
        copies.remove().run();
        busy.release();
        acquire(cache, prompt(3, 16), 0).release(); // the first two leave the GPU
        cache.pin(prompt(2, 12), CacheSpace.NONE, SECOND);
        while (!copies.isEmpty()) {
            copies.remove().run();
        }
        assertEquals(3, cache.pinned());
    }

    @Test
    void by_priority_the_least_important_go_first_and_a_use_by_a_more_important_one_counts() {
        for (boolean byPriority : List.of(true, false)) {
            KvCache cache = cache(10, 0, 0, byPriority);
            finish(cache, prompt(1, 12), 5);
            finish(cache, prompt(2, 12), 0);
            finish(cache, prompt(3, 12), -1);
            KvCache.Lease more = acquire(cache, prompt(4, 15), 0);
            more.release();
            assertEquals(byPriority ? 3 : 0, held(cache, prompt(1, 12)));
            assertEquals(3, held(cache, prompt(2, 12)));
            assertEquals(byPriority ? 0 : 3, held(cache, prompt(3, 12)));
        }
    }

    @Test
    void a_prefix_takes_the_priority_of_the_most_important_request_that_used_it() {
        KvCache cache = cache(8, 0, 0, true);
        finish(cache, prompt(1, 8), 0);
        finish(cache, prompt(1, 9), 3);
        finish(cache, prompt(2, 8), 1);
        finish(cache, prompt(3, 19), 1);
        assertEquals(2, held(cache, prompt(1, 8)), "older, but used at 3");
        assertEquals(1, held(cache, prompt(2, 8)), "one block was missing: its tail");
    }

    /** Whatever happens in which order: events tell all of it, and no block is lost or doubled. */
    @ParameterizedTest(name = "{0} GPU blocks, {1} host blocks, by priority {2}, seed {3}")
    @CsvSource({
        "24, 0, false, 1",
        "24, 0, true, 2",
        "24, 24, false, 3",
        "24, 60, true, 4",
        "8, 40, false, 5",
        "40, 20, true, 6",
        "60, 200, false, 7"
    })
    void random_sessions_pins_and_priorities_leave_nothing_behind(
            int gpu, int host, boolean byPriority, long seed) {
        KvCache cache = cache(gpu, host, host / 2, byPriority);
        RandomGenerator random = new SplittableRandom(seed);
        List<Held> running = new ArrayList<>();
        List<Held> parked = new ArrayList<>();
        Set<String> onGpu = new HashSet<>();
        Set<String> onHost = new HashSet<>();
        int resumed = 0;
        int pins = 0;
        int dropped = 0;
        for (int step = 0; step < 4_000; step++) {
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> {
                    int[] tokens = text(random, 1 + random.nextInt(8 * BLOCK));
                    int prompt = tokens.length;
                    String session = random.nextBoolean() ? "s" + random.nextInt(3) : null;
                    int total = prompt + 1 + random.nextInt(BLOCK);
                    KvCache.Lease lease =
                            cache.acquire(
                                    tokens,
                                    prompt,
                                    total,
                                    CacheSpace.NONE,
                                    session,
                                    random.nextInt(3));
                    if (lease != null) {
                        lease.loaded();
                        lease.commit(tokens, prompt);
                        running.add(new Held(lease, total));
                    }
                }
                case 3 -> {
                    if (!running.isEmpty()) {
                        Held h = running.remove(random.nextInt(running.size()));
                        h.lease().park(h.length());
                        parked.add(h);
                    }
                }
                case 4 -> {
                    if (!parked.isEmpty()) {
                        int i = random.nextInt(parked.size());
                        Held h = parked.get(i);
                        int longer = h.length() + random.nextInt(2 * BLOCK);
                        if (h.lease().holds() && h.lease().resume(longer)) {
                            parked.remove(i);
                            running.add(new Held(h.lease(), longer));
                            resumed++;
                        }
                    }
                }
                case 5, 6 -> {
                    List<Held> from = random.nextInt(3) == 0 ? parked : running;
                    if (!from.isEmpty()) {
                        from.remove(random.nextInt(from.size())).lease().release();
                    }
                }
                case 7, 8 -> {
                    if (!copies.isEmpty()) {
                        copies.remove().run();
                    }
                }
                case 9 ->
                        pins +=
                                cache.pin(
                                                text(random, 4 * BLOCK),
                                                CacheSpace.NONE,
                                                random.nextLong(60 * SECOND))
                                        .blocks();
                case 10 -> {
                    now += random.nextLong(20 * SECOND);
                    int before = cache.gpuUsed();
                    cache.dropSession("s" + random.nextInt(3));
                    dropped += before - cache.gpuUsed();
                }
                default -> {
                    if (random.nextInt(60) == 0) {
                        assertEquals(running.isEmpty(), cache.clear());
                    }
                }
            }
            replay(onGpu, onHost);
            assertEquals(onGpu, names(cache.contents(Medium.GPU)), "GPU after step " + step);
            assertEquals(onHost, names(cache.contents(Medium.HOST)), "host after step " + step);
            assertTrue(cache.gpuUsed() <= gpu && cache.hostUsed() <= host, "step " + step);
            int outside = parked.stream().mapToInt(h -> h.lease().parkedTokens() / BLOCK).sum();
            assertEquals(outside, cache.gpuParked(), "step " + step);
            assertTrue(cache.pinned() <= host / 2);
        }
        running.forEach(h -> h.lease().release());
        parked.forEach(h -> h.lease().release());
        now += 100 * SECOND;
        assertEquals(0, cache.pinned());
        while (!copies.isEmpty()) {
            copies.remove().run();
        }
        replay(onGpu, onHost);
        assertEquals(onGpu.size(), cache.gpuUsed(), "idle: every used block is a cached one");
        assertEquals(onGpu.size(), cache.gpuEvictable());
        assertEquals(onHost.size(), cache.hostUsed());
        assertTrue(resumed > 20 && dropped > 10, resumed + " resumed, " + dropped + " dropped");
        assertTrue(host == 0 || pins > 100, pins + " pins");
    }

    private record Held(KvCache.Lease lease, int length) {}

    private void replay(Set<String> onGpu, Set<String> onHost) {
        for (CacheEvent event : events) {
            switch (event) {
                case CacheEvent.Stored s -> {
                    Set<String> set = s.medium() == Medium.GPU ? onGpu : onHost;
                    String parent = s.parent() == null ? null : name(s.parent());
                    assertTrue(parent == null || set.contains(parent), "stored without parent");
                    set.addAll(names(s.digests()));
                }
                case CacheEvent.Removed r -> {
                    Set<String> set = r.medium() == Medium.GPU ? onGpu : onHost;
                    for (byte[] digest : r.digests()) {
                        assertTrue(set.remove(name(digest)), "removed twice or never stored");
                    }
                }
                case CacheEvent.Cleared c -> {
                    assertNotNull(c);
                    onGpu.clear();
                    onHost.clear();
                }
            }
        }
        events.clear();
    }

    /** Two alternatives per block, so that prefixes are shared all the time. */
    private static int[] text(RandomGenerator random, int length) {
        int[] tokens = new int[length];
        for (int i = 0; i < length; i++) {
            tokens[i] = i % BLOCK == 0 ? random.nextInt(2) : 7;
        }
        return tokens;
    }

    private KvCache cache(int gpu, int host, int pinned, boolean byPriority) {
        return new KvCache(
                BLOCK,
                gpu,
                host,
                new SglangPageHasher(),
                (tokens, done) -> copies.add(done),
                new CachePolicy(byPriority, pinned, () -> now),
                events::add);
    }

    private static KvCache.Lease acquire(KvCache cache, int[] prompt, int priority) {
        KvCache.Lease lease =
                cache.acquire(
                        prompt, prompt.length, prompt.length + 1, CacheSpace.NONE, null, priority);
        assertNotNull(lease);
        return lease;
    }

    /** Blocks of the prompt that are on the GPU, from the first one on. */
    private static int held(KvCache cache, int[] prompt) {
        Set<String> all = names(cache.contents(Medium.GPU));
        SglangPageHasher hasher = new SglangPageHasher();
        byte[] at = null;
        for (int i = 0; i < prompt.length / BLOCK; i++) {
            int[] tokens = Arrays.copyOfRange(prompt, i * BLOCK, (i + 1) * BLOCK);
            at = hasher.digest(at, tokens, CacheSpace.NONE);
            if (!all.contains(name(at))) {
                return i;
            }
        }
        return prompt.length / BLOCK;
    }

    private void finish(KvCache cache, int[] prompt, int priority) {
        KvCache.Lease lease = acquire(cache, prompt, priority);
        lease.loaded();
        lease.commit(prompt, prompt.length);
        lease.release();
        while (!copies.isEmpty()) {
            copies.remove().run();
        }
    }

    private static int[] prompt(int first, int length) {
        return IntStream.range(0, length).map(i -> first * 1000 + i).toArray();
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
