package io.warmpath.routing.rates;

import io.warmpath.routing.Router;
import io.warmpath.routing.rates.WorkerRates.Shows;
import io.warmpath.routing.rates.WorkerRates.Work;
import java.util.LinkedHashSet;

/**
 * One slot's requests under way, and what its answers have taught. Writers hold the monitor; {@link
 * #state} is one volatile read. For prefill only answers that found no prefill ahead are samples:
 * with every answer as one, a router learns its own queues and runs from them. For decoding all
 * are: what others' prompts took of their time is known, and taken off.
 *
 * <p>Requests whose first token is not seen (see {@link Unseen}) are computed by the clock. Such an
 * answer, as a whole, teaches both speeds at once: each is off by as much as its time is.
 */
final class SlotRates {
    /** Shorter answers say more about chance than about speed. */
    private static final int LEAST_OUTPUT = 16;

    /** New tokens that an engine is taken to compute in one step. */
    private static final int STEP_TOKENS = 8192;

    private final int slot;
    private final LatencyPriors priors;
    private final LinkedHashSet<Running> pending = new LinkedHashSet<>();
    private final Unseen unseen = new Unseen();
    private double pendingMillis;
    private long lastFirstNanos = Long.MIN_VALUE;
    private long begun;
    private int requests;
    private long promptTokens;

    /** Prefill and loading of all whose prompts are computed. */
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

    synchronized Running begin(Work work, Shows shows, long now) {
        settle(now);
        boolean alone = pending.isEmpty() && unseen.isEmpty();
        Running r = new Running(work, begun++, now, alone ? shows : Shows.NOTHING);
        requests++;
        promptTokens += work.promptTokens();
        double ahead = work.aheadMillis();
        if (shows == Shows.FIRST_TOKEN) {
            pending.add(r);
            pendingMillis += ahead;
        } else {
            unseen.add(r, now);
            r.prefilledBefore = prefilledMillis;
            r.stepBefore = step(work);
        }
        book(ahead + decodeMillis(work), now);
        arriving.add(work, priors, now);
        publish();
        return r;
    }

    /** Prompts that are computed by the clock. */
    private void settle(long now) {
        prefilledMillis += unseen.computedBy(now);
    }

    /** This one's prompt is computed, and with it those that were sent before. */
    private void computedUpTo(Running r, long now) {
        settle(now);
        prefilledMillis += unseen.computedUpTo(r.number, now);
    }

    /** As {@link Sent#prefillNanos}. */
    synchronized long prefillNanos(Running r, long now) {
        if (r.ended) {
            return 0;
        }
        if (pending.contains(r)) {
            return Sent.NOT_KNOWN;
        }
        if (unseen.isLate(r, now)) {
            unseen.later(r, now);
            publish();
        }
        return unseen.nanos(r, now);
    }

    /** As {@link Router#waiting}. */
    synchronized void waiting(int inQueue, long now) {
        settle(now);
        if (unseen.waiting(inQueue - pending.size(), now)) {
            publish();
        }
    }

    /** As {@link Sent#willShow}. */
    synchronized void willShow(Running r) {
        r.shows = unseen.contains(r);
    }

    /** As {@link Sent#prefilled}. */
    synchronized void prefilled(Running r, long now) {
        if (!r.ended && unseen.contains(r)) {
            computedUpTo(r, now);
            publish();
        }
    }

    synchronized void computed(int blocks, int anew) {
        again = again.with(anew, blocks);
        publish();
    }

    /** Of another gateway: no sample, and its work may have been booked before. */
    synchronized Running beginOfPeer(Work work, boolean prefilled, long now) {
        Running r = new Running(work, begun++, now, Shows.NOTHING);
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
        computedUpTo(r, now);
        pendingMillis -= r.work.aheadMillis();
        prefilledMillis += r.work.aheadMillis();
        lastFirstNanos = now;
        r.answering = true;
        r.firstNanos = now;
        r.prefilledAtFirst = prefilledMillis;
        r.stepAtFirst = step(r.work);
        if (r.teaches == Shows.FIRST_TOKEN) {
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
        if (outputTokens > 0) {
            computedUpTo(r, now);
        } else {
            settle(now);
            unseen.remove(r, now);
        }
        if (r.teaches == Shows.END && outputTokens > 0) {
            learnBoth(r, outputTokens, now);
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
        settle(now);
        WorkSum waiting = new WorkSum();
        pending.forEach(r -> waiting.add(r.work, priors));
        unseen.forEach(r -> waiting.add(r.work, priors));
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

    /**
     * From the whole time of an answer that came in one piece. How much of it was prefill, of its
     * own prompt and of those that were computed beside it, is taken from what is known of both
     * speeds: each is as much slower than was thought as the time is longer.
     */
    private void learnBoth(Running r, long outputTokens, long now) {
        Work w = r.work;
        if (w.hostTokens() > 0 || w.poolTokens() > 0) {
            return;
        }
        double prefilling = w.stepMillis() + prefilledMillis - r.prefilledBefore;
        double steps = (outputTokens - 1) * (r.stepBefore + step(w)) / 2;
        double slower = (now - r.sentNanos) / 1e6 / (prefilling + w.decodeFactor() * steps);
        learnPrefill(w, slower * (w.prefillMillis() + w.stepMillis()) / 1000);
        if (outputTokens >= LEAST_OUTPUT) {
            decode = decode.with(slower * w.decodeFactor() * steps / 1000, steps / 1000);
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
                        unseen.untilNanos(),
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
     * @param waiting whose prompts are not computed
     * @param oldestMillis since when the first of these waits whose first token will be seen
     */
    record Demand(RateState state, WorkSum arrived, WorkSum waiting, double oldestMillis) {
        static Demand none() {
            return new Demand(RateState.IDLE, new WorkSum(), new WorkSum(), 0);
        }
    }

    /** One request; fields are guarded by the slot's monitor. */
    static final class Running {
        final Work work;

        /** Of the slot's requests, in the order in which they were sent. */
        final long number;

        private final long sentNanos;

        /** {@link Shows#NOTHING} also where it found prefill ahead. */
        private final Shows teaches;

        /** When its prefill should be done, where its first token is not seen. */
        long untilNanos;

        /** The clock alone does not say that it is done. */
        boolean shows;

        private double prefilledBefore;
        private double stepBefore;

        private boolean answering;
        private long firstNanos;
        private double prefilledAtFirst;
        private double stepAtFirst;

        private boolean ended;

        Running(Work work, long number, long sentNanos, Shows teaches) {
            this.work = work;
            this.number = number;
            this.sentNanos = sentNanos;
            this.teaches = teaches;
        }
    }
}
