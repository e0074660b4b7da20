package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PotentialBlocks;
import io.warmpath.load.PrefixUsers;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.rates.FleetRates;
import io.warmpath.routing.rates.RateState;
import io.warmpath.routing.rates.Speeds;
import io.warmpath.routing.rates.Unheard;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one candidate after the other, for the cost models. One per decision, one
 * thread; read again for each candidate, so that a decision over a thousand ranks makes no thousand
 * objects. Depths are cumulative blocks of the candidate's own size.
 */
final class Facts {
    /** Names of {@link #write}'s numbers, in order; blocks by {@link TierBlocks}. */
    static final List<String> NAMES =
            List.of(
                    ("gpu_blocks host_blocks disk_blocks external_blocks shared_blocks"
                                    + " active_prefill_tokens active_blocks active_requests"
                                    + " taint_factor pinned_blocks weight")
                            .split(" ", -1));

    final RoutingRequest request;
    final BlockWeights weights;
    private final LoadBook loads;
    private final PotentialBlocks potential;

    /** Smallest block size among the candidates; costs are in blocks of this size. */
    final int unit;

    /** Booked prefill of the least busy candidate, by its weight; {@link BlockCost}'s. */
    double leastPrefillTokens;

    /** The workers' speeds; null where they are not kept, or nobody looks at them. */
    @Nullable Speeds speeds;

    // Of the speeds, where they are looked at: the moment, all candidates, the expected answer's
    // length.
    long nowNanos;
    FleetRates fleet = FleetRates.UNSEEN;
    double outputTokens;

    /** The candidate's speed, where it is kept. */
    RateState rates = RateState.IDLE;

    // Worth of work, and of decoding; LatencyCost's.
    double workPrice;
    double decodeWeight;

    // Of the candidate's cost in milliseconds: what lies before the request or beside it there, and
    // the rest, both by the candidate's weight and taints.
    double loadMillis;
    double restMillis;

    /** What other gateways may have sent; where the speeds are looked at. */
    Unheard unheard = Unheard.NONE;

    /** Some candidate has a taint; else factors are 1 without a look. */
    private final boolean tainted;

    /** Some candidate's weight is not 1. */
    private final boolean weighted;

    private int reportedBlockSize = -1;
    int blockSize = 1;

    /** The candidate's blocks in {@link #unit}s. */
    double units = 1;

    /** Blocks of the prompt, of the candidate's size. */
    int promptBlocks;

    private int most;
    private int usableTokens;
    private int usablePairs;
    private int mostUsable;
    private @Nullable PrefixMatch match;

    /** Who uses the prompt's leading blocks, of the candidate's size, anywhere. */
    PrefixUsers users = PrefixUsers.NONE;

    int gpu;
    int host;
    int disk;
    int external;

    /** Pool blocks credited by the weights' rule. */
    int shared;

    /** Pool blocks that go on without a gap where the worker's own tiers end. */
    int sharedRun;

    /** Blocks of the prompt that the candidate has been made to keep. */
    int pinned;

    /** By which its taints, or those it lacks, make the candidate dearer. */
    double taintFactor = 1;

    /** By which the candidate's load is divided. */
    double weight = 1;

    /** The request's adapter has to be loaded there. */
    boolean loadsAdapter;

    /** Of all its places for adapters, how often one becomes free before the request's has one. */
    double adapterTurns;

    /** To move a token's cache to the candidate; 0 where nothing comes to it. */
    double transferMillisPerToken;

    WorkerSlot slot = new WorkerSlot(0);

    /** The candidate's KV blocks on the device; 0 when not known. */
    long kvBlocks;

    // The load as it was read.
    long activePrefillTokens;
    double activeBlocks;
    int activeRequests;
    private int place;

    Facts(
            RoutingRequest request,
            BlockWeights weights,
            LoadBook loads,
            PotentialBlocks potential,
            Roster roster) {
        this.request = request;
        this.weights = weights;
        this.loads = loads;
        this.potential = potential;
        this.unit = roster.unit();
        this.tainted = roster.tainted();
        this.weighted = roster.weighted();
    }

    void read(Candidate candidate) {
        int reported = candidate.worker().blockSize();
        if (reported != reportedBlockSize) {
            sized(reported);
        }
        slot = candidate.slot();
        mostUsable = candidate.worker().cache().bigrams() ? usablePairs : usableTokens;
        if (tainted) {
            taintFactor = request.taints().costFactor(candidate.worker());
        }
        if (weighted) {
            weight = candidate.worker().weight();
        }
        kvBlocks = candidate.worker().capacity().kvBlocks();
        if (request.part() == Part.DECODE) {
            transferMillisPerToken = request.transfer().millisPerToken(candidate.worker().place());
        }
        WorkerLoad load = loads.load(slot);
        activePrefillTokens = load.prefillTokens();
        activeBlocks = load.blocks();
        activeRequests = load.requests();
        PrefixMatch known = match;
        int at = known == null ? -1 : indexOf(known, slot);
        if (known != null && at >= 0) {
            gpu = Math.min(most, known.depthAt(at, Tier.GPU));
            host = Math.min(most, known.depthAt(at, Tier.HOST));
            disk = Math.min(most, known.depthAt(at, Tier.DISK));
            external = Math.min(most, known.depthAt(at, Tier.EXTERNAL));
        } else {
            gpu = 0;
            host = 0;
            disk = 0;
            external = 0;
        }
        AdapterView adapter = request.adapter();
        if (adapter != null) {
            Double turns = adapter.turns().get(slot);
            loadsAdapter = turns != null;
            adapterTurns = turns == null ? 0 : turns;
        }
        PinView pins = request.pins();
        pinned = pins == null ? 0 : Math.min(most, pins.blocks(candidate));
        SharedView view = request.shared();
        SharedHits pool = view == null ? null : view.hits(candidate.worker());
        if (pool != null) {
            shared = pool.credited(weights.sharedRule(), gpu, external);
            sharedRun = pool.runFrom(external);
        } else {
            shared = 0;
            sharedRun = 0;
        }
    }

    /**
     * Blocks that running requests of the candidate use count as cached there: the engine has them,
     * or has them before this request gets its turn.
     */
    void countRunning() {
        int there = Math.min(most, potential.shared(slot));
        gpu = Math.max(gpu, there);
        host = Math.max(host, there);
        disk = Math.max(disk, there);
        external = Math.max(external, there);
    }

    /**
     * Blocks in use on the candidate if the request goes there, of its own size; those of the
     * prompt that run there already are not counted a second time.
     */
    double decodeBlocks() {
        return activeBlocks + potential.added(slot, promptBlocks);
    }

    /** What depends on a block size: workers of one model mostly have the same. */
    private void sized(int reported) {
        reportedBlockSize = reported;
        blockSize = Math.max(1, reported);
        units = (double) blockSize / unit;
        // Only blocks that are full of this prompt's tokens; none when they are not known.
        most = request.promptTokens() / blockSize;
        usableTokens = Math.max(0, request.promptTokens() - 1) / blockSize;
        usablePairs = Math.max(0, request.promptTokens() - 2) / blockSize;
        promptBlocks = blocks(request.promptTokens(), blockSize);
        match = request.match(reported);
        users = potential.users(reported);
    }

    /** Finds {@link #leastPrefillTokens}; only for who needs it, it reads every load. */
    void findLeastPrefill(List<Candidate> candidates) {
        double least = Double.POSITIVE_INFINITY;
        for (int i = 0; i < candidates.size(); i++) {
            Candidate c = candidates.get(i);
            double booked = loads.load(c.slot()).prefillTokens();
            least = Math.min(least, weighted ? booked / c.worker().weight() : booked);
        }
        leastPrefillTokens = least;
    }

    void write(double[] out, int at) {
        TierBlocks tiers = TierBlocks.of(gpu, host, disk, external, sharedRun);
        out[at] = tiers.gpu();
        out[at + 1] = tiers.host();
        out[at + 2] = tiers.disk();
        out[at + 3] = tiers.external();
        out[at + 4] = shared;
        out[at + 5] = activePrefillTokens;
        out[at + 6] = activeBlocks;
        out[at + 7] = activeRequests;
        out[at + 8] = taintFactor;
        out[at + 9] = pinned;
        out[at + 10] = weight;
    }

    /** Worth of each of {@link #pinned}. */
    double pinWeight() {
        PinView pins = request.pins();
        return pins == null ? 0 : pins.weight();
    }

    /** Blocks from a cache can be this many: the last token of a prompt is always computed. */
    int usable(int depth) {
        return Math.min(depth, mostUsable);
    }

    /** Blocks that a request occupies; at least one, also when its tokens are not known. */
    static int blocks(int promptTokens, int blockSize) {
        return Math.max(1, Math.ceilDiv(promptTokens, Math.max(1, blockSize)));
    }

    /** Candidates mostly come in the order of their slots, as the match does: try the next one. */
    private int indexOf(PrefixMatch match, WorkerSlot slot) {
        if (place < match.size() && match.slotAt(place) == slot.index()) {
            return place++;
        }
        int found = match.indexOf(slot);
        place = found < 0 ? place : found + 1;
        return found;
    }
}
