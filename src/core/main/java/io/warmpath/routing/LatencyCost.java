package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.PrefixUsers;
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
 * cost  = t * max(0, (wait + room + adapter + (1 + h * (price - 1)) * (f * prefill + load)
 *                     + f * step + overdue + d * v * (own + others)) / w + unheard - p)
 * price = 1 + g * (rho / (1 - rho) + e / (1 - e))
 * v     = 0.05 + 0.1 * (1 - rho / 0.85)
 * room  = d * time of an answer * blocks wanted / blocks there * u^4 / (1 - u)
 * adapter = 10 ms + d * time of an answer * turns   0 where its adapter is active, or there is none
 * </pre>
 *
 * <p>wait: prefill of requests there without a first token, less what the oldest have been served.
 * room: what others wait for blocks that this one takes; u is the part of the worker's KV blocks
 * that running requests and their answers want, at most 0.93. adapter: what it takes to load the
 * request's adapter, some 100 MB from host memory, and turns ({@link AdapterView}) to wait for a
 * place: an adapter's place is free when an answer has ended. rho: the booked share of the
 * candidates' time, at most 0.85. e: the part of what is computed that was evicted before. price:
 * makes a missed cache dearer the fuller the fleet is, when every miss lengthens every queue, and
 * the shorter its memory, when every miss evicts what somebody comes back for. h: 1 over the
 * workers that the requests with the missing prefix would fill, at most 1: a copy of a hot prefix
 * serves them all. prefill, load: of the tokens not cached, and of those in slower tiers. step: of
 * the first token. overdue: the oldest request there takes longer than can be right. unheard: what
 * other gateways may have sent there ({@link UnheardWork}). own: how much slower the answer will
 * run there. others: how much slower it makes theirs. v: worth of that time against the time to a
 * first token; the more the idler the fleet. f and d: how much slower the worker is than predicted,
 * in prefill and in decoding. w: the worker's weight. p: {@link PinView#weight} times the prefill
 * of what is pinned there. t: {@link TaintRules#costFactor}.
 *
 * <p>Of a request that is split, a worker that prefills pays what comes before the answer, without
 * room, own and others; one that decodes pays these, its step, the wait for prompts that are
 * computed there, the transfer of what it does not hold, and in its room what that evicts: g * e /
 * (1 - e) times its prefill.
 *
 * <p>Needs {@link Speeds}. Any thread. A prompt of unknown length counts as one token.
 */
public final class LatencyCost implements CostModel {
    /** What a decision tells of a candidate, in the order of {@link #terms}. */
    private enum Term implements CostTerm {
        CACHED_TOKENS,
        NEW_TOKENS,
        WAIT_MS,
        ROOM_MS,
        ADAPTER_MS,
        TRANSFER_MS,
        WORK_PRICE,
        HOT_ENGINES,
        PREFILL_MS,
        LOAD_MS,
        STEP_MS,
        OVERDUE_MS,
        UNHEARD_MS,
        OWN_DECODE_MS,
        OTHERS_DECODE_MS,
        PREFILL_FACTOR,
        DECODE_FACTOR,
        PIN_MS,
        COST;

        static final List<String> NAMES = CostTerm.names(values());
    }

    /** Worth of a millisecond of decoding against one of waiting, in a fleet that is full. */
    private static final double DECODE_WEIGHT = 0.05;

    /** What an idle fleet adds to it. */
    private static final double IDLE_DECODE_WEIGHT = 0.1;

    /** To load an adapter of some 100 MB from host memory. */
    private static final double ADAPTER_MILLIS = 10;

    /** A worker fuller than that is as good as full. */
    private static final double FULL = 0.93;

    private final LatencyPriors priors;

    public LatencyCost(LatencyPriors priors) {
        this.priors = priors;
    }

    @Override
    public List<String> terms() {
        return Term.NAMES;
    }

    @Override
    public boolean countsRunning() {
        return true;
    }

    @Override
    public void begin(Facts f, List<Candidate> candidates) {
        double rho = LatencyPriors.bounded(f.fleet.utilisation());
        f.workPrice = priors.price(rho, f.fleet.evicted());
        f.decodeWeight =
                DECODE_WEIGHT + IDLE_DECODE_WEIGHT * (1 - rho / LatencyPriors.MOST_UTILISATION);
    }

    @Override
    public double cost(Facts f, double decodeBlocks, double @Nullable [] terms, int at) {
        RateState s = f.rates;
        int host = (f.usable(f.host) - f.usable(f.gpu)) * f.blockSize;
        int cached = f.usable(f.external + f.sharedRun) * f.blockSize;
        int pool = cached - f.usable(f.host) * f.blockSize;
        boolean computes = f.request.part() != Part.DECODE;
        int fresh = computes ? Math.max(1, f.request.promptTokens() - cached) : 0;
        double out = f.request.part() == Part.PREFILL ? 0 : f.outputTokens;
        // Beyond those that were sent by gateways: what the engine itself tells that it runs.
        int requests = Math.max(s.requests(), f.activeRequests);
        double running = s.promptTokens() + requests * out / 2;
        double prefillFactor = s.prefillFactor(f.fleet);
        double decodeFactor = s.decodeFactor(f.fleet);

        double wait = s.waitMillis(f.nowNanos); // who decodes may have prompts of its own
        double prefill = computes ? prefillFactor * priors.prefillMillis(fresh, cached) : 0;
        double load = computes ? s.loadMillis(priors, f.fleet, host, pool) : 0;
        double step = priors.stepMillis(requests, running);
        double room = decodeFactor * out * step * crowding(f, decodeBlocks, requests);
        double adapter =
                f.loadsAdapter ? ADAPTER_MILLIS + decodeFactor * out * step * f.adapterTurns : 0;
        double transfer = 0;
        if (!computes) {
            int held = Math.min(f.request.promptTokens(), cached);
            int moved = f.request.promptTokens() - held;
            room += evictionPrice(f) * prefillFactor * priors.prefillMillis(moved, held);
            transfer = f.transferMillisPerToken * moved;
        }
        double overdue = computes ? s.overdueMillis(f.nowNanos) : 0;
        double decode = decodeFactor * f.decodeWeight * out;
        double own = decode * priors.growthMillis(requests, running);
        double others =
                decode * requests * priors.growthMillis(1, f.request.promptTokens() + out / 2);
        double price = computes ? 1 + (f.workPrice - 1) * coldPart(f, cached, fresh) : 1;
        double pin =
                f.pinned == 0 || !computes
                        ? 0
                        : prefillFactor
                                * f.pinWeight()
                                * priors.prefillMillis(f.pinned * f.blockSize, 0);
        double before =
                wait + room + adapter + transfer + prefillFactor * step + overdue + own + others;
        f.loadMillis = f.taintFactor * before / f.weight;
        f.restMillis = f.taintFactor * (price * (prefill + load) / f.weight - pin);
        double cost = Math.max(0, f.loadMillis + f.restMillis);
        if (terms != null) {
            Term.CACHED_TOKENS.set(terms, at, cached);
            Term.NEW_TOKENS.set(terms, at, fresh);
            Term.WAIT_MS.set(terms, at, wait);
            Term.ROOM_MS.set(terms, at, room);
            Term.ADAPTER_MS.set(terms, at, adapter);
            Term.TRANSFER_MS.set(terms, at, transfer);
            Term.WORK_PRICE.set(terms, at, price);
            Term.HOT_ENGINES.set(terms, at, hotEngines(f, cached));
            Term.PREFILL_MS.set(terms, at, prefill);
            Term.LOAD_MS.set(terms, at, load);
            Term.STEP_MS.set(terms, at, prefillFactor * step);
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

    /**
     * Writes what was added to a candidate's cost after it was made.
     *
     * @param at first of the places of its terms
     * @param millis added for what other gateways may have sent
     */
    static void addUnheard(double[] terms, int at, double millis, double cost) {
        Term.UNHEARD_MS.set(terms, at, millis);
        Term.COST.set(terms, at, cost);
    }

    /** What a block that is written costs those whose blocks it evicts, of its own prefill. */
    private double evictionPrice(Facts f) {
        return priors.price(0, f.fleet.evicted()) - 1;
    }

    /**
     * How much of the time of an answer others wait for the KV blocks that this request takes; 0
     * where the worker's blocks are not known. Grows steeply as the worker gets full.
     */
    private static double crowding(Facts f, double decodeBlocks, int requests) {
        if (f.kvBlocks == 0) {
            return 0;
        }
        double answer = f.outputTokens / f.blockSize;
        double wanted = decodeBlocks + (requests + 1) * answer;
        double full = Math.min(FULL, wanted / f.kvBlocks);
        double taken = (decodeBlocks - f.activeBlocks + answer) / f.kvBlocks;
        return taken * (full * full * full * full) / (1 - full);
    }

    /**
     * The part of the tokens to compute whose price the request has to pay alone: all of those that
     * no other running request uses, 1/n of those whose requests would fill n workers.
     */
    private static double coldPart(Facts f, int cached, int fresh) {
        PrefixUsers users = f.users;
        double cold = 0;
        int from = cached;
        for (int i = 0; i < users.stretches(); i++) {
            int end = Math.min(f.request.promptTokens(), users.end(i) * f.blockSize);
            if (end > from) {
                cold += (end - from) / Math.max(1, engines(f, users.users(i)));
                from = end;
            }
        }
        return Math.min(1, (cold + Math.max(0, f.request.promptTokens() - from)) / fresh);
    }

    /** How many workers the requests would fill that share the first block to compute. */
    private static double hotEngines(Facts f, int cached) {
        PrefixUsers users = f.users;
        for (int i = 0; i < users.stretches(); i++) {
            if (users.end(i) * f.blockSize > cached) {
                return engines(f, users.users(i));
            }
        }
        return 0;
    }

    private static double engines(Facts f, int requests) {
        return requests / Math.max(1, f.fleet.requests());
    }

    /**
     * Says that the request takes a hot prefix to one more worker; empty where it does not, or
     * where this cost did not decide.
     *
     * @param all detailed
     * @param chosen one of them
     */
    static String copying(Scores all, int chosen) {
        int hot = all.names().indexOf(Term.HOT_ENGINES.label());
        int cached = all.names().indexOf(Term.CACHED_TOKENS.label());
        if (hot < 0 || all.terms(chosen).get(hot) <= 1) {
            return "";
        }
        int holders = 0;
        for (int i = 0; i < all.size(); i++) {
            holders += all.terms(i).get(cached) > all.terms(chosen).get(cached) ? 1 : 0;
        }
        return holders == 0
                ? ""
                : "copying a hot prefix ("
                        + holders
                        + " of "
                        + (int) Math.ceil(all.terms(chosen).get(hot))
                        + " holders)";
    }

    /** What the request of these terms asks of its worker. */
    static WorkerRates.Work work(Facts f, double[] terms) {
        int host = (f.usable(f.host) - f.usable(f.gpu)) * f.blockSize;
        int pool = (int) Term.CACHED_TOKENS.of(terms) - f.usable(f.host) * f.blockSize;
        return new WorkerRates.Work(
                f.request.promptTokens(),
                (int) Term.NEW_TOKENS.of(terms),
                Term.PREFILL_MS.of(terms),
                Term.LOAD_MS.of(terms),
                Term.STEP_MS.of(terms),
                host,
                pool,
                f.request.part() == Part.PREFILL ? 0 : f.outputTokens,
                Term.PREFILL_FACTOR.of(terms),
                Term.DECODE_FACTOR.of(terms));
    }
}
