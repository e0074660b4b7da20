package io.warmpath.routing;

import io.warmpath.routing.WorkerRates.Work;
import java.util.LinkedHashSet;

/**
 * One slot's requests under way, and what its answers have taught.
 *
 * <p>Writers hold the monitor; {@link #state} is one volatile read.
 *
 * <p>Only answers that nothing else can have delayed are samples: for prefill those that found no
 * prefill ahead, for decoding those beside which none began. The priors weigh as much as some tens
 * of seconds of samples. With weaker ones, or with every answer as a sample, a router learns its
 * own queues and runs from them.
 */
final class SlotRates {
    private static final double KEPT = 0.98;
    private static final double PRIOR_SECONDS = 50;
    private static final double LOAD_PRIOR_SECONDS = 5;
    private static final double LEAST_FACTOR = 0.2;
    private static final double MOST_FACTOR = 10;

    /** Shorter answers say more about chance than about speed. */
    private static final int LEAST_OUTPUT = 16;

    private final int slot;
    private final LatencyPriors priors;
    private final LinkedHashSet<Running> pending = new LinkedHashSet<>();
    private double pendingMillis;
    private long lastFirstNanos = Long.MIN_VALUE;
    private long blindUntilNanos = Long.MIN_VALUE;
    private int requests;
    private long promptTokens;
    private long begun;
    private long window = Long.MIN_VALUE;
    private double booked;
    private double bookedBefore;
    private final Ratio prefill = new Ratio();
    private final Ratio decode = new Ratio();
    private final Rate host;
    private final Rate pool;
    private volatile RateState state;

    SlotRates(int slot, LatencyPriors priors) {
        this.slot = slot;
        this.priors = priors;
        this.host = new Rate(priors.hostTokensPerSecond());
        this.pool = new Rate(priors.poolTokensPerSecond());
        this.state = RateState.idle(priors);
    }

    int slot() {
        return slot;
    }

    RateState state() {
        return state;
    }

    synchronized Running begin(Work work, boolean streamed, long now) {
        boolean alone = pending.isEmpty() && state.waitMillis(now) == 0;
        Running r = new Running(work, now, streamed && alone);
        begun++;
        requests++;
        promptTokens += work.promptTokens();
        double ahead = work.aheadMillis();
        if (streamed) {
            pending.add(r);
            pendingMillis += ahead;
        } else {
            long from = blindUntilNanos == Long.MIN_VALUE ? now : Math.max(now, blindUntilNanos);
            blindUntilNanos = from + (long) (ahead * 1e6);
        }
        double out = work.outputTokens();
        book(ahead + out * priors.growthMillis(1, work.promptTokens() + out / 2), now);
        publish();
        return r;
    }

    synchronized void firstToken(Running r, long now) {
        if (!pending.remove(r)) {
            return;
        }
        pendingMillis -= r.work.aheadMillis();
        lastFirstNanos = now;
        r.firstNanos = now;
        r.begunAtFirst = begun;
        r.stepAtFirst = step(r.work);
        r.undisturbed = pending.isEmpty();
        if (r.alone) {
            learnPrefill(r.work, (now - r.sentNanos) / 1e9);
        }
        publish();
    }

    synchronized void end(Running r, long outputTokens, long now) {
        if (r.ended) {
            return;
        }
        r.ended = true;
        if (pending.remove(r)) {
            pendingMillis -= r.work.aheadMillis();
        }
        if (r.undisturbed && r.begunAtFirst == begun && outputTokens >= LEAST_OUTPUT) {
            double perStep = (r.stepAtFirst + step(r.work)) / 2;
            decode.add((now - r.firstNanos) / 1e9, (outputTokens - 1) * perStep / 1000);
        }
        requests--;
        promptTokens -= r.work.promptTokens();
        publish();
    }

    /** One step beside all that runs here now. */
    private double step(Work w) {
        return priors.stepMillis(requests, promptTokens + requests * w.outputTokens() / 2);
    }

    private void learnPrefill(Work w, double observed) {
        double predicted = (w.prefillMillis() + w.stepMillis()) / 1000;
        if (w.hostTokens() == 0 && w.poolTokens() == 0) {
            prefill.add(observed, predicted);
            return;
        }
        // What is left of the time once the computation is taken off; from one tier at a time.
        double loading = Math.max(0, observed - prefill.factor() * predicted);
        if (w.poolTokens() == 0) {
            host.add(w.hostTokens(), loading);
        } else if (w.hostTokens() == 0) {
            pool.add(w.poolTokens(), loading);
        }
    }

    private void book(double millis, long now) {
        long current = Math.floorDiv(now, RateState.WINDOW_NANOS);
        if (current != window) {
            bookedBefore = current == window + 1 ? booked : 0;
            booked = 0;
            window = current;
        }
        booked += millis;
    }

    private void publish() {
        long service = 0;
        double head = 0;
        if (pending.isEmpty()) {
            pendingMillis = 0; // what rounding has left
        } else {
            Running oldest = pending.getFirst();
            service = Math.max(oldest.sentNanos, lastFirstNanos);
            head = oldest.work.aheadMillis();
        }
        // release: pairs with the volatile read in state().
        state =
                new RateState(
                        pending.size(),
                        pendingMillis,
                        service,
                        head,
                        blindUntilNanos,
                        requests,
                        promptTokens,
                        window,
                        booked,
                        bookedBefore,
                        prefill.factor(),
                        decode.factor(),
                        host.perSecond(),
                        pool.perSecond());
    }

    /** One request; fields are guarded by the slot's monitor. */
    static final class Running {
        private final Work work;
        private final long sentNanos;

        /** Found no prefill ahead. */
        private final boolean alone;

        private long firstNanos;
        private long begunAtFirst;
        private double stepAtFirst;

        /** No other prefill was waiting when its first token came. */
        private boolean undisturbed;

        private boolean ended;

        Running(Work work, long sentNanos, boolean alone) {
            this.work = work;
            this.sentNanos = sentNanos;
            this.alone = alone;
        }
    }

    /** Observed against predicted time; newer samples count more, the prior as many seconds. */
    private static final class Ratio {
        private double observed;
        private double predicted;

        void add(double observedSeconds, double predictedSeconds) {
            observed = KEPT * observed + observedSeconds;
            predicted = KEPT * predicted + predictedSeconds;
        }

        double factor() {
            double ratio = (observed + PRIOR_SECONDS) / (predicted + PRIOR_SECONDS);
            return Math.clamp(ratio, LEAST_FACTOR, MOST_FACTOR);
        }
    }

    /** Tokens per second, with a prior. */
    private static final class Rate {
        private final double prior;
        private double tokens;
        private double seconds;

        Rate(double prior) {
            this.prior = prior;
        }

        void add(double sampleTokens, double sampleSeconds) {
            tokens = KEPT * tokens + sampleTokens;
            seconds = KEPT * seconds + sampleSeconds;
        }

        double perSecond() {
            double rate = (tokens + prior * LOAD_PRIOR_SECONDS) / (seconds + LOAD_PRIOR_SECONDS);
            return Math.clamp(rate, prior / MOST_FACTOR, prior * MOST_FACTOR);
        }
    }
}
