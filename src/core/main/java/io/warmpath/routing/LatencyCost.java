package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
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
final class LatencyCost implements CostModel {
    private static final List<String> TERMS =
            List.of(
                    "cached_tokens",
                    "new_tokens",
                    "wait_ms",
                    "work_price",
                    "prefill_ms",
                    "load_ms",
                    "step_ms",
                    "overdue_ms",
                    "own_decode_ms",
                    "others_decode_ms",
                    "prefill_factor",
                    "decode_factor",
                    "pin_ms",
                    "cost");

    /** Worth of a millisecond of decoding against one of waiting for the first token. */
    private static final double DECODE_WEIGHT = 0.1;

    private final LatencyPriors priors;

    LatencyCost(LatencyPriors priors) {
        this.priors = priors;
    }

    @Override
    public List<String> terms() {
        return TERMS;
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
        double running = s.promptTokens() + s.requests() * out / 2;

        double wait = s.waitMillis(f.nowNanos);
        double prefill = priors.prefillMillis(fresh, cached);
        double load = s.loadMillis(priors, f.fleet, host, pool);
        double step = priors.stepMillis(s.requests(), running);
        double overdue = s.overdueMillis(f.nowNanos);
        double own = DECODE_WEIGHT * out * priors.growthMillis(s.requests(), running);
        double others =
                DECODE_WEIGHT
                        * s.requests()
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
            terms[at] = cached;
            terms[at + 1] = fresh;
            terms[at + 2] = wait;
            terms[at + 3] = f.workPrice;
            terms[at + 4] = prefill;
            terms[at + 5] = load;
            terms[at + 6] = step;
            terms[at + 7] = overdue;
            terms[at + 8] = own;
            terms[at + 9] = others;
            terms[at + 10] = prefillFactor;
            terms[at + 11] = decodeFactor;
            terms[at + 12] = pin;
            terms[at + 13] = cost;
        }
        return cost;
    }

    /** What the request of these terms asks of its worker. */
    static WorkerRates.Work work(Facts f, double[] terms) {
        int host = (f.usable(f.host) - f.usable(f.gpu)) * f.blockSize;
        int pool = (int) terms[0] - f.usable(f.host) * f.blockSize;
        return new WorkerRates.Work(
                f.request.promptTokens(),
                terms[4],
                terms[5],
                terms[6],
                host,
                pool,
                f.outputTokens,
                terms[10]);
    }
}
