package io.warmpath.sim.engine;

import io.warmpath.sim.cache.KvCache;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * One data-parallel rank: a queue, steps that compute prompts, and a batch of answers that grow by
 * one token per inter-token time.
 *
 * <p>Engine's thread only. A step takes prompts in the order of the queue until it holds so many
 * tokens; what is left of the last one comes with the next step, and the prompts that are complete
 * have their first token when it ends. A request that does not fit waits at the head of the queue,
 * and holds back those behind it. Nobody who runs is stopped for a more important one, as SGLang
 * can. Events of one step are published together, before the tokens of that step are reported.
 *
 * <p>vLLM makes blocks known when a request is scheduled and while an answer fills them; SGLang
 * after the prefill and when the request ends.
 */
public final class RankScheduler {
    private final KvCache cache;
    private Timing timing;
    private final Timers timers;
    private final int maxBatch;
    private final int batchTokens;
    private final boolean storesEarly;
    private final @Nullable PoolLink pool;
    private final Runnable publish;
    private final RankCounters counters = new RankCounters();
    private final PriorityQueue<Sequence> waiting;
    private final PriorityQueue<Sequence> decoding =
            new PriorityQueue<>(
                    Comparator.<Sequence>comparingLong(s -> s.nextTokenAt)
                            .thenComparingLong(s -> s.serial));

    /** In the order of their arrival; all but the last one are complete with the step under way. */
    private final List<Sequence> prefilling = new ArrayList<>();

    private Timers.@Nullable Timer prefillTimer;

    /** A step has ended and those who wait for its tokens are told; the next one has to wait. */
    private boolean reporting;

    private Timers.@Nullable Timer decodeTimer;
    private long decodeTimerAt;
    private long nextSerial;
    private long nextQueued;

    /** Requests whose pages are on their way from the pool. */
    private int fetching;

    /** Requests whose pages are on their way from the engine that has computed them. */
    private int receiving;

    /**
     * @param batchTokens prompt tokens that one step computes
     * @param storesEarly vLLM's way of making blocks known
     * @param publish sends the cache events gathered since the last call
     * @param pool where pages are fetched from before a request waits for its turn; null: nowhere
     */
    public RankScheduler(
            KvCache cache,
            Timing timing,
            Timers timers,
            int maxBatch,
            int batchTokens,
            boolean storesEarly,
            QueueOrder order,
            @Nullable PoolLink pool,
            Runnable publish) {
        this.waiting = new PriorityQueue<>(order.comparator());
        this.pool = pool;
        this.cache = cache;
        this.timing = timing;
        this.timers = timers;
        this.maxBatch = maxBatch;
        this.batchTokens = batchTokens;
        this.storesEarly = storesEarly;
        this.publish = publish;
    }

    /** Takes a request; its listener is called later, or from within for an instant prefill. */
    public void submit(Sequence sequence) {
        if (cache.blocksFor(sequence.tokens().length) > cache.gpuBlocks()) {
            throw new IllegalArgumentException(
                    sequence.tokens().length + " tokens never fit this cache");
        }
        sequence.serial = nextSerial++;
        KvCache.Prefetch fetch =
                pool == null || heldBySession(sequence) != null
                        ? null
                        : cache.prefetch(
                                sequence.tokens(),
                                sequence.promptLength(),
                                sequence.space(),
                                pool.pages());
        if (pool == null || fetch == null) {
            enqueue(sequence);
            return;
        }
        fetching++;
        timers.schedule(
                pool.fetchNanos(fetch.blocks() * cache.blockSize()),
                () -> {
                    fetching--;
                    fetch.landed();
                    publish.run();
                    if (sequence.state == Sequence.State.WAITING) {
                        enqueue(sequence);
                    }
                });
    }

    private void enqueue(Sequence sequence) {
        sequence.queued = nextQueued++;
        waiting.add(sequence);
        startNext();
    }

    /**
     * The prompt of a request has come from another engine, and its first token with it. No effect
     * on one that has ended meanwhile. {@code cached}: as that engine counts.
     */
    public void received(Sequence sequence, int cached, int loaded) {
        if (sequence.state != Sequence.State.RECEIVING) {
            return;
        }
        receiving--;
        sequence.cached = cached;
        sequence.loaded = loaded;
        started(sequence);
        startNext();
        setDecodeTimer();
    }

    /** The client is gone: slot and blocks are free again. No effect on an ended request. */
    public void abort(Sequence sequence) {
        switch (sequence.state) {
            case WAITING -> waiting.remove(sequence);
            case PREFILLING -> {
                prefilling.remove(sequence);
                giveUp(sequence);
                if (prefillTimer != null && prefilling.stream().noneMatch(s -> s.chunk > 0)) {
                    prefillTimer.cancel();
                    prefillTimer = null;
                }
            }
            case RECEIVING -> {
                receiving--;
                giveUp(sequence);
            }
            case DECODING -> {
                decoding.remove(sequence);
                if (sequence.slot() == null && sequence.reserved() == null) {
                    sequence.held().commit(sequence.tokens(), sequence.computed());
                }
                giveUp(sequence);
            }
            case ENDED -> {
                return;
            }
        }
        sequence.state = Sequence.State.ENDED;
        counters.aborted++;
        publish.run();
        startNext();
    }

    /** An aborted turn takes the KV of its session with it. */
    private static void giveUp(Sequence sequence) {
        sequence.held().release();
        SessionSlot slot = sequence.slot();
        if (slot != null) {
            slot.empty();
        }
    }

    /** A session is closed: what its slot holds is free again. No request may be using it. */
    public void free(SessionSlot slot) {
        KvCache.Lease lease = slot.lease();
        slot.empty();
        if (lease != null) {
            lease.release();
            cacheChanged();
        }
    }

    /** Blocks have gone: that is told, and who waits for memory tries again. */
    public void cacheChanged() {
        publish.run();
        startNext();
    }

    /** From the next step and token on, computing and decoding take so long. */
    public void timing(Timing other) {
        timing = other;
    }

    /** Requests that compute, receive or decode now. */
    public int running() {
        return decoding.size() + prefilling.size() + receiving;
    }

    public int waiting() {
        return waiting.size() + fetching;
    }

    /** Prompt tokens of the requests that wait. */
    public int waitingTokens() {
        return waiting.stream().mapToInt(Sequence::promptLength).sum();
    }

    public RankCounters counters() {
        return counters;
    }

    /** The next step, unless one is under way or there is nothing to compute. */
    private void startNext() {
        if (prefillTimer != null || reporting) {
            return;
        }
        int budget = batchTokens;
        int computed = 0;
        int loaded = 0;
        for (Sequence s : prefilling) {
            budget -= plan(s, budget);
            computed += s.chunk;
            loaded += s.loading;
        }
        while (budget > 0 && !waiting.isEmpty() && running() < maxBatch) {
            Sequence next = waiting.element();
            KvCache.Lease lease = lease(next);
            if (lease == null) {
                break;
            }
            waiting.remove();
            Runnable reserved = next.reserved();
            if (reserved != null) {
                next.lease = lease;
                next.state = Sequence.State.RECEIVING;
                receiving++;
                reserved.run();
                continue;
            }
            admit(next, lease);
            budget -= plan(next, budget);
            computed += next.chunk;
            loaded += next.loading;
        }
        publish.run();
        if (computed > 0) {
            prefillTimer =
                    timers.schedule(timing.prefillNanos(computed, loaded), this::prefillDone);
        }
    }

    private static KvCache.@Nullable Lease heldBySession(Sequence sequence) {
        SessionSlot slot = sequence.slot();
        return slot == null ? null : slot.lease();
    }

    /** Null when the request has to wait for others to end. */
    private KvCache.@Nullable Lease lease(Sequence sequence) {
        KvCache.Lease held = heldBySession(sequence);
        sequence.resumed = held != null;
        if (held != null) {
            return held.resume(sequence.tokens().length) ? held : null;
        }
        return cache.acquire(
                sequence.tokens(),
                sequence.promptLength(),
                sequence.tokens().length,
                sequence.space(),
                sequence.sessionId(),
                sequence.priority() == null ? 0 : sequence.priority());
    }

    private void admit(Sequence sequence, KvCache.Lease lease) {
        SessionSlot slot = sequence.slot();
        sequence.lease = lease;
        sequence.state = Sequence.State.PREFILLING;
        if (slot != null && sequence.resumed) {
            sequence.loaded = 0;
            sequence.cached = Math.min(slot.length(), sequence.promptLength() - 1);
        } else {
            sequence.loaded = lease.hostHits() * cache.blockSize();
            sequence.cached = lease.gpuHits() * cache.blockSize() + sequence.loaded;
        }
        sequence.loading = sequence.loaded;
        sequence.done = sequence.cached;
        counters.queriedTokens += sequence.promptLength();
        counters.hitTokens += sequence.cached;
        prefilling.add(sequence);
    }

    /** What the next step computes of the prompt. */
    private int plan(Sequence sequence, int budget) {
        sequence.chunk = Math.min(budget, sequence.promptLength() - sequence.done);
        if (storesEarly && sequence.chunk > 0) {
            store(sequence, sequence.done + sequence.chunk);
        }
        return sequence.chunk;
    }

    private void store(Sequence sequence, int tokens) {
        if (sequence.resumed) {
            return; // the tree knows the session's first prompt, and nothing of what followed
        }
        sequence.held().loaded();
        sequence.held().commit(sequence.tokens(), tokens);
    }

    private void prefillDone() {
        prefillTimer = null;
        List<Sequence> complete = new ArrayList<>();
        for (Sequence s : prefilling) {
            if (s.chunk > 0) {
                s.done += s.chunk;
                s.chunk = 0;
                s.loading = 0;
                if (!storesEarly) {
                    store(s, s.done);
                }
            }
            if (s.done == s.promptLength()) {
                complete.add(s);
            }
        }
        publish.run();
        prefilling.removeAll(complete);
        reporting = true;
        for (Sequence s : complete) {
            // A listener may have aborted one of the others.
            if (s.state == Sequence.State.PREFILLING) {
                started(s);
            }
        }
        reporting = false;
        startNext();
        setDecodeTimer();
    }

    private void started(Sequence sequence) {
        sequence.state = Sequence.State.DECODING;
        sequence.nextTokenAt = timers.nanoTime();
        counters.promptTokens += sequence.promptLength();
        sequence.listener().started(sequence.cached, sequence.loaded);
        if (sequence.state == Sequence.State.DECODING) {
            emit(sequence);
        }
    }

    private void decodeStep() {
        decodeTimer = null;
        long now = timers.nanoTime();
        List<Sequence> due = new ArrayList<>();
        while (!decoding.isEmpty() && decoding.element().nextTokenAt <= now) {
            due.add(decoding.remove());
        }
        for (Sequence sequence : due) {
            // A listener may have aborted one of the others.
            if (sequence.state == Sequence.State.DECODING) {
                emit(sequence);
            }
        }
        startNext();
        setDecodeTimer();
    }

    private void emit(Sequence sequence) {
        int index = sequence.emitted++;
        counters.generatedTokens++;
        boolean last = sequence.emitted == sequence.answerLength();
        SessionSlot slot = sequence.slot();
        if (last) {
            if (slot == null) {
                // SGLang's engine that decodes keeps no tree: what has come to it is one request's.
                if (sequence.reserved() == null) {
                    sequence.held().commit(sequence.tokens(), sequence.computed());
                }
                sequence.held().release();
            } else {
                slot.keep(sequence.held(), sequence.tokens().length);
            }
            sequence.state = Sequence.State.ENDED;
            counters.finished++;
            publish.run();
        } else {
            if (storesEarly
                    && slot == null
                    && sequence.reserved() == null
                    && filledABlock(sequence)) {
                sequence.held().commit(sequence.tokens(), sequence.computed());
                publish.run();
            }
            sequence.nextTokenAt += timing.interTokenNanos();
            decoding.add(sequence);
        }
        sequence.listener().token(index);
        if (last) {
            sequence.listener().finished();
        }
    }

    private boolean filledABlock(Sequence sequence) {
        return sequence.computed() / cache.blockSize() > sequence.held().blocks();
    }

    private void setDecodeTimer() {
        if (decoding.isEmpty()) {
            return;
        }
        long at = decoding.element().nextTokenAt;
        if (decodeTimer != null) {
            if (decodeTimerAt <= at) {
                return;
            }
            decodeTimer.cancel();
        }
        decodeTimerAt = at;
        decodeTimer = timers.schedule(Math.max(0, at - timers.nanoTime()), this::decodeStep);
    }
}
