package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cost in blocks.
 *
 * <pre>
 * raw     = (booked prefill tokens + prompt tokens) / B        0 when prefill is not tracked
 * excess  = (booked prefill / W - least of any candidate) / B / blocks of the prompt
 * decay   = 1 / (1 + credit_decay * excess)
 * credit  = overlap_credit * decay * D + host_weight * H + disk_weight * (K + E)
 *           + shared_multiplier * S
 * prefill = max(0, raw - credit)
 * cost    = taints * max(0, prefill_load_scale * prefill / W
 *                           + active / W + new + active_request_weight * requests / W
 *                           + adapter / W - pin_weight * P)
 * adapter = 1 + turns * active                 0 where the request's adapter is active or none
 * </pre>
 *
 * <p>D device blocks from the start; H, K, E blocks by which host, disk and external tier go on
 * from there; S pool blocks; P pinned blocks, see {@link PinView}; W the worker's weight; active
 * blocks of running requests, new ones of this one, which together are the term decode_blocks;
 * turns as {@link AdapterView}: what runs there has to end as often before the adapter has a place;
 * taints as {@link TaintRules#costFactor}. When the candidates' block sizes differ, all terms are
 * in blocks of the smallest size, because a larger block is more work. Of a request that is split,
 * a worker that prefills has no term of decoding, one that decodes none of prefill. Stateless.
 */
public final class BlockCost implements CostModel {
    /** What a decision tells of a candidate, in the order of {@link #terms}. */
    private enum Term implements CostTerm {
        RAW_PREFILL_BLOCKS,
        CREDIT_DECAY,
        DEVICE_CREDIT,
        HOST_CREDIT,
        DISK_CREDIT,
        SHARED_CREDIT,
        PREFILL_BLOCKS,
        DECODE_BLOCKS,
        REQUEST_COST,
        ADAPTER_COST,
        PIN_CREDIT,
        COST;

        static final List<String> NAMES = CostTerm.names(values());
    }

    @Override
    public List<String> terms() {
        return Term.NAMES;
    }

    @Override
    public void begin(Facts f, List<Candidate> candidates) {
        if (f.weights.creditDecay() > 0) {
            f.findLeastPrefill(candidates);
        }
    }

    @Override
    public double cost(Facts f, double decodeBlocks, double @Nullable [] terms, int at) {
        BlockWeights w = f.weights;
        double own = f.units;
        double raw =
                w.trackPrefill() && f.request.part() != Part.DECODE
                        ? (double) (f.activePrefillTokens + f.request.promptTokens()) / f.unit
                        : 0;
        double decay = decay(f);
        double device = w.overlapCredit() * decay * f.gpu * own;
        double host = w.hostWeight() * (f.host - f.gpu) * own;
        double disk = w.diskWeight() * (f.external - f.host) * own;
        double shared = w.sharedMultiplier() * f.shared * own;
        double prefill = Math.max(0, raw - (device + host + disk + shared));
        boolean decodes = f.request.part() != Part.PREFILL;
        double decode = decodes ? decodeBlocks * own : 0;
        double requests = w.activeRequestWeight() * f.activeRequests;
        double adapter = f.loadsAdapter ? 1 + f.adapterTurns * f.activeBlocks * own : 0;
        double pin = f.pinned == 0 ? 0 : f.pinWeight() * f.pinned * own;
        // Exactly the plain sum where the weight is 1.
        double active = decodes ? f.activeBlocks * own : 0;
        double weighed = decode - active * (1 - 1 / f.weight);
        double work =
                w.prefillLoadScale() * prefill / f.weight
                        + weighed
                        + (requests + adapter) / f.weight;
        double cost = f.taintFactor * Math.max(0, work - pin);
        if (terms != null) {
            Term.RAW_PREFILL_BLOCKS.set(terms, at, raw);
            Term.CREDIT_DECAY.set(terms, at, decay);
            Term.DEVICE_CREDIT.set(terms, at, device);
            Term.HOST_CREDIT.set(terms, at, host);
            Term.DISK_CREDIT.set(terms, at, disk);
            Term.SHARED_CREDIT.set(terms, at, shared);
            Term.PREFILL_BLOCKS.set(terms, at, prefill);
            Term.DECODE_BLOCKS.set(terms, at, decode);
            Term.REQUEST_COST.set(terms, at, requests);
            Term.ADAPTER_COST.set(terms, at, adapter);
            Term.PIN_CREDIT.set(terms, at, pin);
            Term.COST.set(terms, at, cost);
        }
        return cost;
    }

    static double prefillBlocks(double[] terms) {
        return Term.PREFILL_BLOCKS.of(terms);
    }

    static double decodeBlocks(double[] terms) {
        return Term.DECODE_BLOCKS.of(terms);
    }

    private static double decay(Facts f) {
        BlockWeights w = f.weights;
        if (w.creditDecay() == 0 || !w.trackPrefill() || f.request.promptTokens() == 0) {
            return 1;
        }
        double excess = Math.max(0, f.activePrefillTokens / f.weight - f.leastPrefillTokens);
        double promptBlocks = Math.ceilDiv(f.request.promptTokens(), f.blockSize);
        return 1 / (1 + w.creditDecay() * excess / f.blockSize / promptBlocks);
    }
}
