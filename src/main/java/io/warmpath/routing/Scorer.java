package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PotentialBlocks;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One candidate's terms: {@code cost = overlap_weight * prefill_blocks + decode_blocks}.
 *
 * <p>Stateless beside the load book; any thread.
 *
 * <p>With blocks on the device only, {@code prefill_blocks} is exactly (booked prefill tokens + new
 * tokens not cached) / block size. A block in a slower tier counts for less than a whole one: it
 * has to be fetched. The engine always computes the last token of a prompt, so the block that holds
 * it is never counted as cached.
 *
 * <p>When the candidates' block sizes differ, blocks of different sizes are not comparable: all
 * costs are then in blocks of the smallest size among them. A worker whose block size is not known
 * counts in tokens and has no match.
 */
final class Scorer {
    private final RouterOptions options;
    private final LoadBook loads;

    Scorer(RouterOptions options, LoadBook loads) {
        this.options = options;
        this.loads = loads;
    }

    List<Score> scoreAll(List<Candidate> candidates, RoutingRequest request) {
        int unit = unit(request.candidates());
        PotentialBlocks potential = loads.potential(request.prompts());
        List<Score> scores = new ArrayList<>(candidates.size());
        for (int i = 0; i < candidates.size(); i++) {
            scores.add(score(candidates.get(i), request, potential, unit));
        }
        return scores;
    }

    Score score(Candidate candidate, RoutingRequest request) {
        return score(
                candidate, request, loads.potential(request.prompts()), unit(request.candidates()));
    }

    /** Blocks that the request occupies on this worker; at least one, also when not known. */
    static int blocks(Candidate candidate, int promptTokens) {
        int blockSize = blockSize(candidate);
        return Math.max(1, Math.ceilDiv(promptTokens, blockSize));
    }

    private Score score(
            Candidate candidate, RoutingRequest request, PotentialBlocks potential, int unit) {
        int blockSize = blockSize(candidate);
        int promptTokens = request.promptTokens();
        WorkerLoad load = loads.load(candidate.slot());
        PrefixMatch match = matchOf(candidate, request.matches());
        // The last token is always computed: at most this many blocks can come from a cache.
        int most = promptTokens == 0 ? 0 : (promptTokens - 1) / blockSize;
        int place = match == null ? -1 : match.indexOf(candidate.slot());
        int gpu = depth(match, place, Tier.GPU);
        int host = depth(match, place, Tier.HOST);
        int disk = depth(match, place, Tier.DISK);
        int external = depth(match, place, Tier.EXTERNAL);
        int gpuUsable = Math.min(gpu, most);
        int hostUsable = Math.min(host, most);
        int diskUsable = Math.min(disk, most);
        int externalUsable = Math.min(external, most);

        double credit =
                gpuUsable
                        + options.hostWeight() * (hostUsable - gpuUsable)
                        + options.diskWeight() * (externalUsable - hostUsable);
        double tokens = load.prefillTokens() + promptTokens - credit * blockSize;
        double prefillBlocks = Math.max(0, tokens) / unit;
        // Blocks of the prompt that run there already are not counted a second time.
        int added = potential.added(candidate.slot(), blocks(candidate, promptTokens));
        double decodeBlocks = (load.blocks() + added) * blockSize / unit;
        int cachedTokens = diskUsable * blockSize;
        return new Score(
                candidate,
                gpu,
                host,
                disk,
                external,
                cachedTokens,
                promptTokens - cachedTokens,
                prefillBlocks,
                decodeBlocks,
                cost(options.overlapWeight(), prefillBlocks, decodeBlocks));
    }

    static double cost(double overlapWeight, double prefillBlocks, double decodeBlocks) {
        return overlapWeight * prefillBlocks + decodeBlocks;
    }

    private static int depth(@Nullable PrefixMatch match, int place, Tier tier) {
        return match == null ? 0 : match.depthAt(place, tier);
    }

    private static @Nullable PrefixMatch matchOf(Candidate candidate, List<PrefixMatch> matches) {
        for (int i = 0; i < matches.size(); i++) {
            if (matches.get(i).blockSize() == candidate.worker().blockSize()) {
                return matches.get(i);
            }
        }
        return null;
    }

    private static int unit(List<Candidate> candidates) {
        int unit = Integer.MAX_VALUE;
        for (int i = 0; i < candidates.size(); i++) {
            int size = candidates.get(i).worker().blockSize();
            unit = size > 0 ? Math.min(unit, size) : unit;
        }
        return unit == Integer.MAX_VALUE ? 1 : unit;
    }

    private static int blockSize(Candidate candidate) {
        return Math.max(1, candidate.worker().blockSize());
    }
}
