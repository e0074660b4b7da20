package io.warmpath.sim.engine;

import io.warmpath.sim.cache.KvCache;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * One data-parallel rank: a first-come queue, one prefill at a time, and a batch of answers that
 * grow by one token per inter-token time.
 *
 * <p>Engine's thread only. A request that does not fit waits at the head of the queue. Events of
 * one step are published together, before the tokens of that step are reported.
 *
 * <p>vLLM makes blocks known when a request is scheduled and while an answer fills them; SGLang
 * after the prefill and when the request ends.
 */
public final class RankScheduler {
    private final KvCache cache;
    private final Timing timing;
    private final Timers timers;
    private final int maxBatch;
    private final boolean storesEarly;
    private final Runnable publish;
    private final RankCounters counters = new RankCounters();
    private final Deque<Sequence> waiting = new ArrayDeque<>();
    private final PriorityQueue<Sequence> decoding =
            new PriorityQueue<>(
                    Comparator.<Sequence>comparingLong(s -> s.nextTokenAt)
                            .thenComparingLong(s -> s.serial));
    private @Nullable Sequence prefilling;
    private Timers.@Nullable Timer prefillTimer;
    private Timers.@Nullable Timer decodeTimer;
    private long decodeTimerAt;
    private long nextSerial;

    /**
     * @param storesEarly vLLM's way of making blocks known
     * @param publish sends the cache events gathered since the last call
     */
    public RankScheduler(
            KvCache cache,
            Timing timing,
            Timers timers,
            int maxBatch,
            boolean storesEarly,
            Runnable publish) {
        this.cache = cache;
        this.timing = timing;
        this.timers = timers;
        this.maxBatch = maxBatch;
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
        waiting.add(sequence);
        startNext();
    }

    /** The client is gone: slot and blocks are free again. No effect on an ended request. */
    public void abort(Sequence sequence) {
        switch (sequence.state) {
            case WAITING -> waiting.remove(sequence);
            case PREFILLING -> {
                if (prefillTimer != null) {
                    prefillTimer.cancel();
                }
                prefilling = null;
                sequence.held().release();
            }
            case DECODING -> {
                decoding.remove(sequence);
                sequence.held().commit(sequence.tokens(), sequence.computed());
                sequence.held().release();
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

    /** Requests that compute or decode now. */
    public int running() {
        return decoding.size() + (prefilling == null ? 0 : 1);
    }

    public int waiting() {
        return waiting.size();
    }

    public RankCounters counters() {
        return counters;
    }

    private void startNext() {
        while (prefilling == null && !waiting.isEmpty() && running() < maxBatch) {
            Sequence next = waiting.element();
            KvCache.Lease lease =
                    cache.acquire(
                            next.tokens(),
                            next.promptLength(),
                            next.tokens().length,
                            next.space(),
                            next.sessionId());
            if (lease == null) {
                return;
            }
            waiting.remove();
            startPrefill(next, lease);
        }
    }

    private void startPrefill(Sequence sequence, KvCache.Lease lease) {
        sequence.lease = lease;
        sequence.state = Sequence.State.PREFILLING;
        prefilling = sequence;
        if (storesEarly) {
            lease.loaded();
            lease.commit(sequence.tokens(), sequence.promptLength());
        }
        publish.run();
        int loaded = lease.hostHits() * cache.blockSize();
        int cached = lease.gpuHits() * cache.blockSize() + loaded;
        counters.queriedTokens += sequence.promptLength();
        counters.hitTokens += cached;
        long nanos = timing.prefillNanos(sequence.promptLength() - cached, loaded);
        prefillTimer = timers.schedule(nanos, () -> prefillDone(sequence, lease, cached, loaded));
    }

    private void prefillDone(Sequence sequence, KvCache.Lease lease, int cached, int loaded) {
        prefilling = null;
        prefillTimer = null;
        if (!storesEarly) {
            lease.loaded();
            lease.commit(sequence.tokens(), sequence.promptLength());
            publish.run();
        }
        sequence.state = Sequence.State.DECODING;
        sequence.nextTokenAt = timers.nanoTime();
        counters.promptTokens += sequence.promptLength();
        sequence.listener().started(cached, loaded);
        if (sequence.state == Sequence.State.DECODING) {
            emit(sequence);
        }
        startNext();
        setDecodeTimer();
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
        if (last) {
            sequence.held().commit(sequence.tokens(), sequence.computed());
            sequence.held().release();
            sequence.state = Sequence.State.ENDED;
            counters.finished++;
            publish.run();
        } else {
            if (storesEarly && filledABlock(sequence)) {
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
