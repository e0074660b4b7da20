package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one candidate after the other, for the cost models.
 *
 * <p>One per decision, one thread; read again for each candidate, so that a decision over a
 * thousand ranks makes no thousand objects. Depths are cumulative blocks of the candidate's own
 * size.
 */
final class Facts {
    /** Names of {@link #write}'s numbers, in order. */
    static final List<String> NAMES =
            List.of(
                    "gpu_blocks",
                    "host_blocks",
                    "disk_blocks",
                    "external_blocks",
                    "shared_blocks",
                    "active_prefill_tokens",
                    "active_blocks",
                    "active_requests",
                    "taint_factor");

    final RoutingRequest request;
    final BlockWeights weights;
    private final LoadBook loads;

    /** Smallest block size among the candidates; costs are in blocks of this size. */
    final int unit;

    /** Booked prefill of the least busy candidate; {@link BlockCost}'s. */
    long leastPrefillTokens;

    // Of the speeds, where they are kept: the moment, all candidates, the expected answer's length.
    long nowNanos;
    FleetRates fleet = FleetRates.UNSEEN;
    double outputTokens;

    /** The candidate's speed, where it is kept. */
    RateState rates = RateState.IDLE;

    /** Worth of work; {@link LatencyCost}'s. */
    double workPrice;

    /** Some candidate has a taint; else factors are 1 without a look. */
    private final boolean tainted;

    int blockSize = 1;
    int gpu;
    int host;
    int disk;
    int external;

    /** Pool blocks credited by the weights' rule. */
    int shared;

    /** Pool blocks that go on without a gap where the worker's own tiers end. */
    int sharedRun;

    /** By which its taints, or those it lacks, make the candidate dearer. */
    double taintFactor = 1;

    WorkerSlot slot = new WorkerSlot(0);

    // The load as it was read.
    long activePrefillTokens;
    double activeBlocks;
    int activeRequests;
    private int place;

    Facts(RoutingRequest request, BlockWeights weights, LoadBook loads, Roster roster) {
        this.request = request;
        this.weights = weights;
        this.loads = loads;
        this.unit = roster.unit();
        this.tainted = roster.tainted();
    }

    void read(Candidate candidate) {
        blockSize = blockSize(candidate);
        slot = candidate.slot();
        if (tainted) {
            taintFactor = request.taints().costFactor(candidate.worker());
        }
        WorkerLoad load = loads.load(slot);
        activePrefillTokens = load.prefillTokens();
        activeBlocks = load.blocks();
        activeRequests = load.requests();
        PrefixMatch match = matchOf(candidate);
        int at = match == null ? -1 : indexOf(match, candidate);
        // Only blocks that are full of this prompt's tokens; none when they are not known.
        int most = request.promptTokens() / blockSize;
        gpu = depth(match, at, Tier.GPU, most);
        host = depth(match, at, Tier.HOST, most);
        disk = depth(match, at, Tier.DISK, most);
        external = depth(match, at, Tier.EXTERNAL, most);
        SharedHits pool = request.shared();
        if (pool != null && pool.blockSize() == blockSize) {
            shared = pool.credited(weights.sharedRule(), gpu, external);
            sharedRun = pool.runFrom(external);
        } else {
            shared = 0;
            sharedRun = 0;
        }
    }

    /** Finds {@link #leastPrefillTokens}; only for who needs it, it reads every load. */
    void findLeastPrefill(List<Candidate> candidates) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < candidates.size(); i++) {
            least = Math.min(least, loads.load(candidates.get(i).slot()).prefillTokens());
        }
        leastPrefillTokens = least;
    }

    void write(double[] out, int at) {
        out[at] = gpu;
        out[at + 1] = host;
        out[at + 2] = disk;
        out[at + 3] = external;
        out[at + 4] = shared;
        out[at + 5] = activePrefillTokens;
        out[at + 6] = activeBlocks;
        out[at + 7] = activeRequests;
        out[at + 8] = taintFactor;
    }

    /** Blocks from a cache can be this many: the last token of a prompt is always computed. */
    int usable(int depth) {
        int tokens = request.promptTokens();
        return tokens == 0 ? 0 : Math.min(depth, (tokens - 1) / blockSize);
    }

    static int blockSize(Candidate candidate) {
        return Math.max(1, candidate.worker().blockSize());
    }

    private static int depth(@Nullable PrefixMatch match, int at, Tier tier, int most) {
        return match == null ? 0 : Math.min(most, match.depthAt(at, tier));
    }

    /** Candidates mostly come in the order of their slots, as the match does: try the next one. */
    private int indexOf(PrefixMatch match, Candidate candidate) {
        if (place < match.size() && match.slotAt(place) == candidate.slot().index()) {
            return place++;
        }
        int found = match.indexOf(candidate.slot());
        place = found < 0 ? place : found + 1;
        return found;
    }

    private @Nullable PrefixMatch matchOf(Candidate candidate) {
        List<PrefixMatch> matches = request.matches();
        for (int i = 0; i < matches.size(); i++) {
            if (matches.get(i).blockSize() == candidate.worker().blockSize()) {
                return matches.get(i);
            }
        }
        return null;
    }
}
