package io.warmpath.sim;

import io.warmpath.sim.cache.BlockHasher;
import io.warmpath.sim.cache.CacheEvent;
import io.warmpath.sim.cache.CachePolicy;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.KvCache;
import io.warmpath.sim.cache.Medium;
import io.warmpath.sim.engine.HostDma;
import io.warmpath.sim.engine.PoolLink;
import io.warmpath.sim.engine.RankScheduler;
import io.warmpath.sim.engine.Timers;
import io.warmpath.sim.engine.Timing;
import io.warmpath.sim.session.RankSessions;
import io.warmpath.sim.wire.EventPublisher;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One data-parallel rank: cache, scheduler and event publisher, tied together. Engine's thread
 * only.
 */
final class Rank {
    private final List<CacheEvent> pending = new ArrayList<>();
    private final KvCache cache;
    private final RankScheduler scheduler;
    private final EventPublisher publisher;
    private final boolean sglang;
    private final @Nullable PoolLink link;
    private final RankSessions sessions;
    private final Timing timing;
    private boolean silent;

    /** {@code bos}: tokens that only begin prompts. */
    Rank(
            SimOptions options,
            BlockHasher hasher,
            Timers timers,
            EventPublisher publisher,
            Set<Integer> bos) {
        this.publisher = publisher;
        this.timing = options.timing();
        this.sglang = options.wire().sglang();
        SimPool pool = options.pool();
        this.link = pool == null ? null : pool.link();
        HostDma dma = new HostDma(timers, options.timing(), this::copied);
        this.cache =
                new KvCache(
                        options.blockSize(),
                        options.gpuBlocks(),
                        options.hostBlocks(),
                        hasher,
                        dma,
                        policy(options, timers),
                        this::changed);
        this.scheduler =
                new RankScheduler(
                        cache,
                        options.timing(),
                        timers,
                        options.maxBatch(),
                        options.batchTokens(),
                        !sglang,
                        options.agents().queueOrder(),
                        link,
                        this::publish);
        this.sessions =
                new RankSessions(scheduler, cache, timers, bos, options.agents().radixSessions());
    }

    /** Computing and decoding go this many times as fast as they were set up; copies do not. */
    void speed(double times) {
        scheduler.timing(timing.times(times));
    }

    /** A copy has landed: blocks that it has held can be given to a request that waits for them. */
    private void copied() {
        scheduler.cacheChanged();
    }

    private static CachePolicy policy(SimOptions options, Timers timers) {
        Double ratio = options.agents().maxPinnedRatio();
        return new CachePolicy(
                options.agents().priorityEviction(),
                ratio == null ? 0 : (int) (options.hostBlocks() * ratio),
                timers::nanoTime);
    }

    /** What has landed in host memory is written on to the pool. */
    private void changed(CacheEvent event) {
        pending.add(event);
        if (link != null
                && event instanceof CacheEvent.Stored stored
                && stored.medium() == Medium.HOST
                && stored.space().equals(CacheSpace.NONE)) {
            link.pages().store(stored.digests());
        }
    }

    /** SGLang says once at start that nothing is cached: its sequence 0. */
    void announce() {
        if (sglang) {
            cache.clear();
            publish();
        }
    }

    /**
     * Empties the cache; refused while requests run or wait. SGLang says so at once, vLLM with the
     * next batch.
     */
    boolean clear() {
        if (scheduler.waiting() > 0 || !cache.clear()) {
            return false;
        }
        if (sglang) {
            publish();
        }
        return true;
    }

    RankScheduler scheduler() {
        return scheduler;
    }

    /** Pins what is cached of a prompt; what is copied for it is told. */
    KvCache.Pinned pin(int[] tokens, CacheSpace space, long ttlNanos) {
        KvCache.Pinned pinned = cache.pin(tokens, space, ttlNanos);
        publish();
        return pinned;
    }

    RankSessions sessions() {
        return sessions;
    }

    /** GPU blocks that cannot be evicted now. */
    int busyBlocks() {
        return cache.gpuUsed() - cache.gpuEvictable();
    }

    EventPublisher publisher() {
        return publisher;
    }

    int load() {
        return scheduler.running() + scheduler.waiting();
    }

    /** From now on nothing is sent any more: the engine is dead. */
    void silence() {
        silent = true;
    }

    SimStats.RankStats stats() {
        return new SimStats.RankStats(
                scheduler.running(),
                scheduler.waiting(),
                cache.gpuUsed(),
                cache.gpuEvictable(),
                cache.contents(Medium.GPU).size(),
                cache.contents(Medium.HOST).size(),
                cache.pinned(),
                scheduler.counters().queriedTokens(),
                scheduler.counters().hitTokens(),
                scheduler.counters().promptTokens(),
                scheduler.counters().generatedTokens(),
                scheduler.counters().finished(),
                scheduler.counters().aborted(),
                publisher.published(),
                publisher.dropped());
    }

    private void publish() {
        if (!pending.isEmpty() && !silent) {
            publisher.publish(List.copyOf(pending));
        }
        pending.clear();
    }
}
