package io.warmpath.routing.rates;

import io.warmpath.routing.rates.WorkerRates.Work;
import java.util.LinkedHashSet;

/**
 * One slot's requests under way, and what its answers have taught. Writers hold the monitor; {@link
 * #state} is one volatile read. For prefill only answers that found no prefill ahead are samples:
 * with every answer as one, a router learns its own queues and runs from them. For decoding all
 * are: what others' prompts took of their time is known, and taken off.
 */
final class SlotRates {
    /** Shorter answers say more about chance than about speed. */
    private static final int LEAST_OUTPUT = 16;

    /** New tokens that an engine is taken to compute in one step. */
    private static final int STEP_TOKENS = 8192;

    private final int slot;
    private final LatencyPriors priors;
    private final LinkedHashSet<Running> pending = new LinkedHashSet<>();
    private double pendingMillis;
    private long lastFirstNanos = Long.MIN_VALUE;
    private long blindUntilNanos = Long.MIN_VALUE;
    private int requests;
    private long promptTokens;

    /** Prefill and loading of all whose first token has come. */
    private double prefilledMillis;

    private long window = Long.MIN_VALUE;
    private double booked;
    private double bookedBefore;
    private final ArrivingWork arriving = new ArrivingWork();
    private Ratio prefill = Ratio.NONE;
    private Ratio decode = Ratio.NONE;
    private Ratio host = Ratio.NONE;
    private Ratio pool = Ratio.NONE;

    /** Blocks computed again against all that were computed. */
    private Ratio again = Ratio.NONE;

    private volatile RateState state = RateState.IDLE;

    SlotRates(int slot, LatencyPriors priors) {
        this.slot = slot;
        this.priors = priors;
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
        requests++;
        promptTokens += work.promptTokens();
        double ahead = work.aheadMillis();
        if (streamed) {
            pending.add(r);
            pendingMillis += ahead;
        } else {
            long from = blindUntilNanos == Long.MIN_VALUE ? now : Math.max(now, blindUntilNanos);
            blindUntilNanos = from + (long) (ahead * 1e6);
            r.blindUntilNanos = blindUntilNanos;
        }
        book(ahead + decodeMillis(work), now);
        arriving.add(work, priors, now);
        publish();
        return r;
    }

    synchronized void computed(int blocks, int anew) {
        again = again.with(anew, blocks);
        publish();
    }

    /** Of another gateway: no sample, and its work may have been booked before. */
    synchronized Running beginOfPeer(Work work, boolean prefilled, long now) {
        Running r = new Running(work, now, false);
        requests++;
        promptTokens += work.promptTokens();
        if (!prefilled) {
            if (work.freshTokens() > 0) { // else another worker computes, and it waits for that
                pending.add(r);
                pendingMillis += work.aheadMillis();
            }
            book(work.aheadMillis() + decodeMillis(work), now);
            arriving.add(work, priors, now);
        }
        publish();
        return r;
    }

    synchronized void firstToken(Running r, long now) {
        if (!pending.remove(r)) {
            return;
        }
        pendingMillis -= r.work.aheadMillis();
        prefilledMillis += r.work.aheadMillis();
        lastFirstNanos = now;
        r.answering = true;
        r.firstNanos = now;
        r.prefilledAtFirst = prefilledMillis;
        r.stepAtFirst = step(r.work);
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
        if (r.blindUntilNanos > now) {
            // It is over, so what was to be computed before it is, too.
            blindUntilNanos -= r.blindUntilNanos - now;
        }
        if (r.answering && outputTokens >= LEAST_OUTPUT) {
            learnDecode(r, outputTokens, now);
        }
        requests--;
        promptTokens -= r.work.promptTokens();
        publish();
    }

    /** By how much the answer lengthens the steps that it is in. */
    private double decodeMillis(Work w) {
        double out = w.outputTokens();
        return w.decodeFactor() * out * priors.growthMillis(1, w.promptTokens() + out / 2);
    }

    /** Looks at each request that waits for its first token. */
    synchronized Demand demand(long now) {
        WorkSum waiting = new WorkSum();
        pending.forEach(r -> waiting.add(r.work, priors));
        double oldest = pending.isEmpty() ? 0 : (now - pending.getFirst().sentNanos) / 1e6;
        return new Demand(state, arriving.lastMinute(now), waiting, oldest);
    }

    /** One step beside all that runs here now. */
    private double step(Work w) {
        return priors.stepMillis(requests, promptTokens + requests * w.outputTokens() / 2);
    }

    /**
     * The time of the answer, less that of the prompts that were computed beside it. An answer of
     * which these took most says too little.
     */
    private void learnDecode(Running r, long outputTokens, long now) {
        double whole = (now - r.firstNanos) / 1e6;
        double decoding = whole - (prefilledMillis - r.prefilledAtFirst);
        if (decoding >= whole / 2) {
            double perStep = (r.stepAtFirst + step(r.work)) / 2;
            decode = decode.with(decoding / 1000, (outputTokens - 1) * perStep / 1000);
        }
    }

    private void learnPrefill(Work w, double observed) {
        double expected = (w.prefillMillis() + w.stepMillis()) / 1000;
        if (w.hostTokens() == 0 && w.poolTokens() == 0) {
            prefill = prefill.with(observed, expected / w.prefillFactor());
            return;
        }
        // What is left of the time once the computation is taken off; from one tier at a time.
        double loading = Math.max(0, observed - expected);
        if (w.poolTokens() == 0) {
            host = host.with(loading, priors.hostMillis(w.hostTokens()) / 1000);
        } else if (w.hostTokens() == 0) {
            pool = pool.with(loading, priors.poolMillis(w.poolTokens()) / 1000);
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

    /**
     * Work of those whose prompts are computed side by side, in the order of their arrival: the
     * oldest one and as many short ones as came before the step began and fit into one with it.
     */
    private double underWayMillis(long serviceNanos) {
        double millis = 0;
        long tokens = 0;
        for (Running r : pending) {
            tokens += r.work.freshTokens();
            if (millis > 0 && (tokens > STEP_TOKENS || r.sentNanos > serviceNanos)) {
                break;
            }
            millis += r.work.aheadMillis();
        }
        return millis;
    }

    private void publish() {
        long service = 0;
        double underWay = 0;
        if (pending.isEmpty()) {
            pendingMillis = 0; // what rounding has left
        } else {
            service = Math.max(pending.getFirst().sentNanos, lastFirstNanos);
            underWay = underWayMillis(service);
        }
        // release: pairs with the volatile read in state().
        state =
                new RateState(
                        pending.size(),
                        pendingMillis,
                        service,
                        underWay,
                        blindUntilNanos,
                        requests,
                        promptTokens,
                        window,
                        booked,
                        bookedBefore,
                        prefill,
                        decode,
                        host,
                        pool,
                        again);
    }

    /**
     * @param arrived within the last minute
     * @param waiting streamed, without a first token
     * @param oldestMillis since when the first of these waits
     */
    record Demand(RateState state, WorkSum arrived, WorkSum waiting, double oldestMillis) {
        static Demand none() {
            return new Demand(RateState.IDLE, new WorkSum(), new WorkSum(), 0);
        }
    }

    /** One request; fields are guarded by the slot's monitor. */
    static final class Running {
        private final Work work;
        private final long sentNanos;

        /** Found no prefill ahead. */
        private final boolean alone;

        /** When its prefill should be done, where its first token is not seen. */
        private long blindUntilNanos = Long.MIN_VALUE;

        private boolean answering;
        private long firstNanos;
        private double prefilledAtFirst;
        private double stepAtFirst;

        private boolean ended;

        Running(Work work, long sentNanos, boolean alone) {
            this.work = work;
            this.sentNanos = sentNanos;
            this.alone = alone;
        }
    }
}
