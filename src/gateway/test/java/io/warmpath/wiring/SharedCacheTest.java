package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.HostCopies;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.metadata.HiCacheMetadata;
import io.warmpath.fleet.metadata.LmcacheMetadata;
import io.warmpath.fleet.metadata.PoolMetadata;
import io.warmpath.fleet.metadata.VllmStoreMetadata;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.gateway.shared.SharedOptions;
import io.warmpath.pool.PoolHits;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.PoolQuestion;
import io.warmpath.pool.PoolStanding;
import io.warmpath.pool.PoolUnavailableException;
import io.warmpath.pool.RecipeCheck;
import io.warmpath.pool.SharedPool;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.SharedHits;
import io.warmpath.routing.SharedView;
import io.warmpath.routing.SharedView.Outcome;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who is asked, what a request waits for, and what is said of it. */
@Timeout(30)
class SharedCacheTest {
    private static final int PAGE = 16;
    private static final int[] PROMPT = new int[5 * PAGE];
    private static final Duration SLOW = Duration.ofMillis(40);

    /** A pool that answers as the test says. */
    private static final class TestPool implements SharedPool {
        final PoolLayout layout;
        final List<PoolQuestion> asked = new CopyOnWriteArrayList<>();
        final List<List<PoolQuestion>> checked = new CopyOnWriteArrayList<>();
        Supplier<CompletableFuture<PoolHits>> answer =
                () -> CompletableFuture.completedFuture(hits(0, 3));
        RecipeCheck.Verdict verdict = new RecipeCheck.Verdict.Fits(4, 4);
        boolean closed;

        TestPool(PoolLayout layout) {
            this.layout = layout;
        }

        @Override
        public PoolLayout layout() {
            return layout;
        }

        @Override
        public CompletionStage<PoolHits> ask(PoolQuestion question) {
            asked.add(question);
            return answer.get();
        }

        @Override
        public CompletionStage<RecipeCheck.Verdict> check(List<PoolQuestion> stored) {
            checked.add(stored);
            return CompletableFuture.completedFuture(verdict);
        }

        @Override
        public PoolStanding standing() {
            return new PoolStanding(PoolStanding.BreakerState.OPEN, "", 0, 0, 0, 7, 5);
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private final Vertx vertx = Vertx.vertx();
    private final Context context = vertx.getOrCreateContext();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Map<PoolLayout, TestPool> pools = new HashMap<>();
    private final Logs logs = new Logs(SharedCache.class);
    private long now = 1;

    @AfterEach
    void stop() throws Exception {
        logs.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private SharedCache cache(Duration deadline) {
        return cache(SharedOptions.Kind.HICACHE, deadline);
    }

    private SharedCache cache(SharedOptions.Kind kind, Duration deadline) {
        return new SharedCache(
                new SharedOptions(kind, deadline, List.of(), "", Duration.ofHours(1)),
                layout -> {
                    TestPool pool = new TestPool(layout);
                    pools.put(layout, pool);
                    return pool;
                },
                meters,
                () -> now);
    }

    private static PoolHits hits(int... bounds) {
        return new PoolHits(PAGE, 5, bounds, 6, 0);
    }

    private static PoolMetadata hicache(String master) {
        return hicache(master, PAGE);
    }

    private static PoolMetadata hicache(String master, int pageSize) {
        return HiCacheMetadata.of(
                Map.of("page_size", pageSize, "master_server_address", master + ":50051"));
    }

    private static Worker worker(int id, @Nullable PoolMetadata pool) {
        return worker(id, pool, HostCopies.EARLY, "0.5.23");
    }

    private static Worker worker(
            int id, @Nullable PoolMetadata pool, HostCopies copies, String version) {
        return Worker.builder(id, "w" + id, URI.create("http://w" + id))
                .kind(EngineKind.SGLANG)
                .models(Set.of("m"))
                .blockSize(PAGE)
                .ranks(List.of(new Worker.Rank(0, new WorkerSlot(id))))
                .version(version)
                .offload(new Offload(copies, pool))
                .build();
    }

    private static void join(SharedCache cache, Worker... workers) {
        for (Worker w : workers) {
            cache.changed(w, w, "");
        }
    }

    /** What a request with these candidates goes on with. */
    private @Nullable SharedView ask(SharedCache cache, Worker... workers) throws Exception {
        return ask(cache, PrefixSpace.NONE, workers);
    }

    private @Nullable SharedView ask(SharedCache cache, PrefixSpace space, Worker... workers)
            throws Exception {
        List<Candidate> candidates = new ArrayList<>();
        for (Worker w : workers) {
            candidates.add(new Candidate(w, 0, w.ranks().getFirst().slot()));
        }
        CompletableFuture<List<SharedView>> got = new CompletableFuture<>();
        context.runOnContext(
                v ->
                        cache.ask(
                                context,
                                candidates,
                                kind -> kind == EngineKind.SGLANG ? PROMPT : new int[0],
                                space,
                                view -> {
                                    assertFalse(got.isDone(), "told twice");
                                    got.complete(view == null ? List.of() : List.of(view));
                                }));
        List<SharedView> views = got.get(10, TimeUnit.SECONDS);
        return views.isEmpty() ? null : views.getFirst();
    }

    private TestPool only() {
        assertEquals(1, pools.size());
        return pools.values().iterator().next();
    }

    private double count(String meter, String... tags) {
        return meters.get(meter).tags(tags).counter().count();
    }

    @Test
    void an_answer_in_time_counts_for_the_workers_of_its_pool() throws Exception {
        SharedCache cache = cache(SLOW);
        Worker a = worker(1, hicache("mm"));
        Worker b = worker(2, hicache("mm"));
        Worker outside = worker(3, null);
        join(cache, a, b, outside);
        SharedView view = ask(cache, a, b, outside);
        assertNotNull(view);
        assertEquals(List.of(0, 3), bounds(view, a));
        assertEquals(List.of(0, 3), bounds(view, b));
        assertNull(view.hits(outside));
        assertEquals(Outcome.IN_TIME, view.pools().getFirst().outcome());
        assertEquals("mm:9003", view.pools().getFirst().name());
        assertEquals(List.of(URI.create("http://mm:9003")), only().layout.masters());
        assertEquals(1, count("warmpath.shared.cache.questions", "outcome", "in_time"));
        assertEquals(6, count("warmpath.shared.cache.keys"));
    }

    private static List<Integer> bounds(SharedView view, Worker worker) {
        SharedHits hits = view.hits(worker);
        assertNotNull(hits);
        return hits.bounds();
    }

    @Test
    void nobody_waits_beyond_the_deadline_and_what_comes_later_is_not_told_twice()
            throws Exception {
        SharedCache cache = cache(SLOW);
        Worker w = worker(1, hicache("mm"));
        join(cache, w);
        CompletableFuture<PoolHits> never = new CompletableFuture<>();
        only().answer = () -> never;
        long began = System.nanoTime();
        SharedView view = ask(cache, w);
        long took = System.nanoTime() - began;
        assertNotNull(view);
        assertEquals(Outcome.LATE, view.pools().getFirst().outcome());
        assertNull(view.hits(w));
        assertTrue(took >= SLOW.toNanos(), took + " ns");
        never.complete(hits(0, 5));
        await().until(() -> meters.get("warmpath.shared.cache.query").timer().count() == 1);
        assertEquals(1, count("warmpath.shared.cache.questions", "outcome", "late"));
    }

    @Test
    void with_deadline_zero_only_what_is_known_at_once_counts() throws Exception {
        SharedCache cache = cache(Duration.ZERO);
        Worker w = worker(1, hicache("mm"));
        join(cache, w);
        assertEquals(List.of(0, 3), bounds(viewOf(cache, w), w));
        only().answer = CompletableFuture::new;
        assertEquals(Outcome.LATE, viewOf(cache, w).pools().getFirst().outcome());
    }

    private SharedView viewOf(SharedCache cache, Worker w) throws Exception {
        SharedView view = ask(cache, w);
        assertNotNull(view);
        return view;
    }

    @Test
    void a_failure_is_told_once_per_change_and_the_request_goes_on() throws Exception {
        SharedCache cache = cache(SLOW);
        Worker w = worker(1, hicache("mm"));
        join(cache, w);
        only().answer =
                () ->
                        CompletableFuture.failedFuture(
                                new PoolUnavailableException(
                                        PoolUnavailableException.Reason.UNREACHABLE, "refused"));
        SharedView view = viewOf(cache, w);
        assertEquals(Outcome.FAILED, view.pools().getFirst().outcome());
        assertEquals("refused", view.pools().getFirst().problem());
        ask(cache, w);
        only().answer =
                () -> {
                    throw new IllegalStateException("a bug");
                };
        assertEquals("a bug", viewOf(cache, w).pools().getFirst().problem());
        List<String> warned = logs.at(Level.WARNING);
        assertEquals(1, warned.size(), warned.toString());
        assertTrue(warned.getFirst().startsWith("Shared cache query failed (mm:9003): refused"));
        assertEquals(2, count("warmpath.shared.cache.errors", "cause", "unreachable"));
        only().answer = () -> CompletableFuture.completedFuture(hits());
        ask(cache, w);
        assertTrue(logs.at(Level.INFO).contains("Shared cache (mm:9003) answers again"));
        only().answer = () -> CompletableFuture.failedFuture(new IllegalStateException("x"));
        ask(cache, w);
        assertEquals(2, logs.at(Level.WARNING).size());
    }

    @Test
    void workers_of_other_masters_or_layouts_are_in_other_pools() throws Exception {
        SharedCache cache = cache(SLOW);
        Worker a = worker(1, hicache("m1"));
        Worker b = worker(2, hicache("m2"));
        Worker c =
                worker(
                        3,
                        HiCacheMetadata.of(
                                Map.of(
                                        "page_size",
                                        PAGE,
                                        "tp_size",
                                        2,
                                        "master_server_address",
                                        "m1:50051")));
        join(cache, a, b, c);
        assertEquals(3, pools.size());
        pools.forEach(
                (layout, pool) ->
                        pool.answer =
                                () ->
                                        layout.masters().getFirst().getHost().equals("m2")
                                                ? CompletableFuture.completedFuture(hits(0, 1))
                                                : CompletableFuture.completedFuture(hits(0, 4)));
        SharedView view = ask(cache, a, b);
        assertNotNull(view);
        assertEquals(2, view.pools().size(), "the third pool has no candidate");
        assertEquals(List.of(0, 4), bounds(view, a));
        assertEquals(List.of(0, 1), bounds(view, b));
        cache.removed(b);
        assertTrue(
                pools.values().stream()
                        .filter(p -> p.layout.masters().getFirst().getHost().equals("m2"))
                        .allMatch(p -> p.closed));
        assertEquals(2, meters.get("warmpath.shared.cache.pools").gauge().value());
        cache.close();
        assertTrue(pools.values().stream().allMatch(p -> p.closed));
    }

    @Test
    void who_cannot_be_credited_is_warned_of_once_with_the_reason() throws Exception {
        SharedCache cache = cache(SLOW);
        Worker wrong = worker(1, hicache("mm", 64));
        Worker nameless = worker(2, HiCacheMetadata.of(Map.of("page_size", PAGE)));
        Worker ageless = worker(3, hicache("mm"), HostCopies.EARLY, "");
        join(cache, wrong, nameless, ageless);
        join(cache, wrong, nameless, ageless);
        List<String> warned = logs.at(Level.WARNING);
        assertEquals(3, warned.size(), warned.toString());
        assertTrue(warned.get(0).contains("w1"), warned.get(0));
        assertTrue(warned.get(0).contains("page-size mismatch"), warned.get(0));
        assertTrue(warned.get(1).contains("warmpath.shared-cache.masters"), warned.get(1));
        assertTrue(warned.get(2).contains("warmpath.shared-cache.engine-version"));
        assertNull(ask(cache, wrong, nameless, ageless));
        assertEquals(0, pools.size());
    }

    @Test
    void each_lmcache_is_a_pool_of_its_own_where_its_chunks_have_names() throws Exception {
        SharedCache cache = cache(SharedOptions.Kind.LMCACHE, SLOW);
        Worker a = worker(1, lmcache("a", 2 * PAGE, "sha256_cbor", ""));
        Worker b = worker(2, lmcache("b", 2 * PAGE, "builtin", "0"));
        join(
                cache,
                a,
                b,
                worker(3, lmcache("c", PAGE + 1, "sha256_cbor", "")),
                worker(4, lmcache("d", PAGE, "xxhash", "0")),
                worker(5, lmcache("e", PAGE, "builtin", "")));
        List<String> warned = logs.at(Level.WARNING);
        assertEquals(3, warned.size(), warned.toString());
        assertTrue(warned.get(0).contains("whole number of blocks of 16"), warned.get(0));
        assertTrue(warned.get(1).contains("sha256_cbor"), warned.get(1));
        assertTrue(warned.get(2).contains("PYTHONHASHSEED"), warned.get(2));
        assertEquals(
                Set.of("lmcache://a", "lmcache://b"),
                Set.copyOf(
                        pools.keySet().stream()
                                .map(l -> l.masters().getFirst().toString())
                                .toList()));
        cache.removed(a);
        assertEquals(1, meters.get("warmpath.shared.cache.pools").gauge().value());
    }

    private static PoolMetadata lmcache(String instance, int chunk, String hash, String seed) {
        return LmcacheMetadata.of(
                Map.of(
                        "instance_id",
                        instance,
                        "chunk_size",
                        chunk,
                        "hash_algorithm",
                        hash,
                        "hash_seed",
                        seed));
    }

    @Test
    void that_nobody_has_hicache_is_said_once() throws Exception {
        SharedCache cache = cache(SLOW);
        Worker plain = worker(1, null);
        Worker other =
                worker(2, VllmStoreMetadata.of(Map.of("block_size", PAGE, "model_name", "m")));
        join(cache, plain, other);
        assertNull(ask(cache, plain, other));
        assertNull(ask(cache, plain, other));
        List<String> warned = logs.at(Level.WARNING);
        assertEquals(1, warned.size(), warned.toString());
        assertTrue(warned.getFirst().contains("no workers have HiCache enabled"));
    }

    @Test
    void salts_are_asked_for_and_adapters_are_not() throws Exception {
        SharedCache cache = cache(SLOW);
        Worker w = worker(1, hicache("mm"));
        join(cache, w);
        assertNull(ask(cache, new PrefixSpace("lora", ""), w));
        assertNotNull(ask(cache, new PrefixSpace("", "tenant"), w));
        assertEquals("tenant", only().asked.getFirst().cacheSalt());
        assertEquals(PROMPT.length, only().asked.getFirst().length());
    }

    @Test
    void stored_pages_are_looked_for_after_a_minute_and_each_hour() {
        SharedCache cache = cache(SLOW);
        Worker w = worker(1, hicache("mm"));
        Worker late = worker(2, hicache("mm"), HostCopies.ON_EVICTION, "0.5.23");
        join(cache, w, late);
        assertNull(cache.sent(late, PROMPT, PrefixSpace.NONE), "it may never write them");
        Runnable stored = cache.sent(w, PROMPT, PrefixSpace.NONE);
        assertNotNull(stored);
        assertNull(cache.sent(w, PROMPT, PrefixSpace.NONE), "one a second is enough");
        cache.check();
        pass(Duration.ofMinutes(2));
        cache.check();
        assertEquals(0, only().checked.size(), "nothing was stored yet");
        stored.run();
        cache.check();
        pass(Duration.ofSeconds(59));
        cache.check();
        assertEquals(0, only().checked.size(), "too early");
        only().verdict = new RecipeCheck.Verdict.Nothing(4, "SGLang 0.5.16", "h_0_k", "m_h_0_k");
        pass(Duration.ofSeconds(1));
        cache.check();
        cache.check();
        assertEquals(1, only().checked.size());
        assertEquals(1, meters.get("warmpath.shared.cache.mismatched").gauge().value());
        List<String> warned = logs.at(Level.WARNING);
        assertEquals(1, warned.size(), warned.toString());
        assertTrue(warned.getFirst().contains("SGLang 0.5.16"), warned.getFirst());
        assertTrue(warned.getFirst().contains("m_h_0_k"), warned.getFirst());
        pass(Duration.ofHours(1));
        cache.check();
        assertEquals(1, logs.at(Level.WARNING).size());
        only().verdict = new RecipeCheck.Verdict.Fits(4, 3);
        pass(Duration.ofHours(1));
        cache.check();
        assertEquals(0, meters.get("warmpath.shared.cache.mismatched").gauge().value());
        assertEquals(3, only().checked.size());
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    @Test
    void breakers_and_what_is_remembered_are_told() {
        SharedCache cache = cache(SLOW);
        join(cache, worker(1, hicache("mm")));
        assertEquals(1, meters.get("warmpath.shared.cache.breakers.open").gauge().value());
        assertEquals(7, meters.get("warmpath.shared.cache.pages").functionCounter().count());
        assertEquals(
                5, meters.get("warmpath.shared.cache.pages.remembered").functionCounter().count());
    }
}
