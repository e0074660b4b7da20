package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.routing.rates.RateState;
import io.warmpath.routing.rates.Speeds;
import io.warmpath.routing.rates.WorkerRates;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cost in milliseconds: when the answer will be done, and what the others lose by it.
 *
 * <pre>
 * cost = t * max(0, (f * (wait + price * (prefill + load) + step + overdue) + d * (own + others)) / w
 *                   - p)
 * </pre>
 *
 * <p>wait: predicted prefill of requests there without a first token, less what the oldest has been
 * served. price: 1 + g * rho / (1 - rho), rho the share of the candidates' time that is booked; it
 * makes a missed cache dearer the fuller the fleet is, when every miss lengthens every queue.
 * prefill, load: of the tokens not cached, and of those in slower tiers. step: of the first token.
 * overdue: the oldest request there takes longer than can be right. own: a tenth of how much slower
 * the answer will run there. others: a tenth of how much slower it makes theirs. f and d: how much
 * slower the worker is than predicted, in prefill and in decoding. w: the worker's weight. p:
 * {@link PinView#weight} times the prefill of what is pinned there. t: {@link
 * TaintRules#costFactor}.
 *
 * <p>Needs {@link Speeds}. Any thread. A prompt of unknown length counts as one token.
 */
public final class LatencyCost implements CostModel {
    /** What a decision tells of a candidate, in the order of {@link #terms}. */
    private enum Term implements CostTerm {
        CACHED_TOKENS,
        NEW_TOKENS,
        WAIT_MS,
        WORK_PRICE,
        PREFILL_MS,
        LOAD_MS,
        STEP_MS,
        OVERDUE_MS,
        OWN_DECODE_MS,
        OTHERS_DECODE_MS,
        PREFILL_FACTOR,
        DECODE_FACTOR,
        PIN_MS,
        COST;

        static final List<String> NAMES = CostTerm.names(values());
    }

    /** Worth of a millisecond of decoding against one of waiting for the first token. */
    private static final double DECODE_WEIGHT = 0.1;

    private final LatencyPriors priors;

    public LatencyCost(LatencyPriors priors) {
        this.priors = priors;
    }

    @Override
    public List<String> terms() {
        return Term.NAMES;
    }

    @Override
    public void begin(Facts f, List<Candidate> candidates) {
        f.workPrice = priors.price(f.fleet.utilisation());
    }

    @Override
    public double cost(Facts f, double decodeBlocks, double @Nullable [] terms, int at) {
        RateState s = f.rates;
        int host = (f.usable(f.host) - f.usable(f.gpu)) * f.blockSize;
        int cached = f.usable(f.external + f.sharedRun) * f.blockSize;
        int pool = cached - f.usable(f.host) * f.blockSize;
        int fresh = Math.max(1, f.request.promptTokens() - cached);
        double out = f.outputTokens;
        // Beyond those that were sent by gateways: what the engine itself tells that it runs.
        int requests = Math.max(s.requests(), f.activeRequests);
        double running = s.promptTokens() + requests * out / 2;

        double wait = s.waitMillis(f.nowNanos);
        double prefill = priors.prefillMillis(fresh, cached);
        double load = s.loadMillis(priors, f.fleet, host, pool);
        double step = priors.stepMillis(requests, running);
        double overdue = s.overdueMillis(f.nowNanos);
        double own = DECODE_WEIGHT * out * priors.growthMillis(requests, running);
        double others =
                DECODE_WEIGHT
                        * requests
                        * out
                        * priors.growthMillis(1, f.request.promptTokens() + out / 2);
        double prefillFactor = s.prefillFactor(f.fleet);
        double decodeFactor = s.decodeFactor(f.fleet);
        double pin =
                f.pinned == 0 ? 0 : f.pinWeight() * priors.prefillMillis(f.pinned * f.blockSize, 0);
        double work =
                prefillFactor * (wait + f.workPrice * (prefill + load) + step + overdue)
                        + decodeFactor * (own + others);
        double cost = f.taintFactor * Math.max(0, work / f.weight - pin);
        if (terms != null) {
            Term.CACHED_TOKENS.set(terms, at, cached);
            Term.NEW_TOKENS.set(terms, at, fresh);
            Term.WAIT_MS.set(terms, at, wait);
            Term.WORK_PRICE.set(terms, at, f.workPrice);
            Term.PREFILL_MS.set(terms, at, prefill);
            Term.LOAD_MS.set(terms, at, load);
            Term.STEP_MS.set(terms, at, step);
            Term.OVERDUE_MS.set(terms, at, overdue);
            Term.OWN_DECODE_MS.set(terms, at, own);
            Term.OTHERS_DECODE_MS.set(terms, at, others);
            Term.PREFILL_FACTOR.set(terms, at, prefillFactor);
            Term.DECODE_FACTOR.set(terms, at, decodeFactor);
            Term.PIN_MS.set(terms, at, pin);
            Term.COST.set(terms, at, cost);
        }
        return cost;
    }

    /** What the request of these terms asks of its worker. */
    static WorkerRates.Work work(Facts f, double[] terms) {
        int host = (f.usable(f.host) - f.usable(f.gpu)) * f.blockSize;
        int pool = (int) Term.CACHED_TOKENS.of(terms) - f.usable(f.host) * f.blockSize;
        return new WorkerRates.Work(
                f.request.promptTokens(),
                Term.PREFILL_MS.of(terms),
                Term.LOAD_MS.of(terms),
                Term.STEP_MS.of(terms),
                host,
                pool,
                f.outputTokens,
                Term.PREFILL_FACTOR.of(terms));
    }
}
