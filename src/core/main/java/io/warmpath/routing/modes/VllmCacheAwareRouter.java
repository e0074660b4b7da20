package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.routing.Choice;
import io.warmpath.routing.Eligibility;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scorer;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The vLLM cache-aware policy: the candidate with the longest known prefix, if that is more than a
 * part of the prompt and the candidate is not much busier than the others; else the least loaded.
 *
 * <p>Any thread. Load is running requests, the mean is over all candidates. Both comparisons are
 * strict, the first in floats: {@code hits / total > threshold} and {@code load < mean * factor}.
 * Loads are compared by the workers' weights: the mean is of all requests over all weights, and the
 * least loaded is who has the smallest share of its weight with this request. Of equally long
 * prefixes the less loaded wins, of equally loaded candidates the longer prefix (so that an idle
 * fleet, where no load is below the mean, still follows its caches), then chance decides.
 */
final class VllmCacheAwareRouter implements Router {
    private final VllmCacheAwareOptions options;
    private final Map<String, Router> perModel;
    private final Scorer scorer;
    private final LoadBook loads;
    private final Supplier<? extends RandomGenerator> random;

    /**
     * @param perModel settings of models that have their own
     * @param scorer for the terms that a decision shows; they have no part in it
     */
    VllmCacheAwareRouter(
            VllmCacheAwareOptions options,
            Map<String, VllmCacheAwareOptions> perModel,
            Scorer scorer,
            LoadBook loads,
            Supplier<? extends RandomGenerator> random) {
        this.options = options;
        this.scorer = scorer;
        this.loads = loads;
        this.random = random;
        Map<String, Router> routers = new HashMap<>();
        perModel.forEach(
                (model, own) ->
                        routers.put(
                                model,
                                new VllmCacheAwareRouter(own, Map.of(), scorer, loads, random)));
        this.perModel = Map.copyOf(routers);
    }

    @Override
    public Router forModel(String model) {
        return perModel.getOrDefault(model, this);
    }

    @Override
    public RouterMode mode() {
        return RouterMode.VLLM_CACHE_AWARE;
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        List<Candidate> candidates = scorer.eligible(request);
        Reach longest = null;
        Reach idlest = null;
        int longestTies = 0;
        int idlestTies = 0;
        for (int i = 0; i < candidates.size(); i++) {
            Reach reach = reach(i, candidates.get(i), request.matches());
            int byPrefix = longest == null ? 1 : reach.comparePrefix(longest);
            longestTies = byPrefix == 0 ? longestTies + 1 : byPrefix > 0 ? 1 : longestTies;
            if (byPrefix > 0 || (byPrefix == 0 && random.get().nextInt(longestTies) == 0)) {
                longest = reach;
            }
            int byLoad = idlest == null ? 1 : reach.compareIdle(idlest);
            idlestTies = byLoad == 0 ? idlestTies + 1 : byLoad > 0 ? 1 : idlestTies;
            if (byLoad > 0 || (byLoad == 0 && random.get().nextInt(idlestTies) == 0)) {
                idlest = reach;
            }
        }
        if (longest == null || idlest == null) {
            throw new IllegalStateException("no candidate is left"); // Pins never leaves none
        }
        double most = mean(untainted(request)) * options.loadFactor();
        boolean hit = longest.ratio() > options.cacheThreshold();
        boolean take = hit && longest.weighed() < most;
        Reach chosen = take ? longest : idlest;
        Choice choice =
                new Choice(
                        take ? Choice.Kind.CACHE_HIT : Choice.Kind.NO_CACHE_HIT,
                        chosen.index(),
                        candidates.size(),
                        take ? longestTies : idlestTies,
                        chosen.load(),
                        chosen.load(),
                        Double.NaN,
                        0,
                        take ? hit(longest, most) : fallback(longest, hit, most));
        return scorer.decision(request, candidates, scorer.effective(request), choice, null);
    }

    private String hit(Reach longest, double most) {
        return longest.inWords()
                + ", above "
                + two(options.cacheThreshold())
                + "; load "
                + longest.loadInWords()
                + " is below "
                + two(most);
    }

    private String fallback(Reach longest, boolean hit, double most) {
        if (longest.total() == 0) {
            return "no block of the prompt is known";
        }
        return hit
                ? "the cache hit, "
                        + longest.inWords()
                        + " at "
                        + longest.candidate().label()
                        + ", has load "
                        + longest.loadInWords()
                        + ", not below "
                        + two(most)
                : "the longest prefix, "
                        + longest.inWords()
                        + ", is not above "
                        + two(options.cacheThreshold());
    }

    private static String two(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    /** Those that a pin leaves out count, those that taints keep this request from do not. */
    private static List<Candidate> untainted(RoutingRequest request) {
        return Eligibility.left(
                request.candidates(), OptionalLong.empty(), OptionalInt.empty(), request.taints());
    }

    private double mean(List<Candidate> all) {
        long sum = 0;
        double weights = 0;
        for (int i = 0; i < all.size(); i++) {
            sum += loads.load(all.get(i).slot()).requests();
            weights += all.get(i).worker().weight();
        }
        return sum / weights;
    }

    private Reach reach(int index, Candidate candidate, List<PrefixMatch> matches) {
        int load = loads.load(candidate.slot()).requests();
        PrefixMatch match = matchOf(candidate, matches);
        return match == null
                ? new Reach(index, candidate, load, 0, 0)
                : new Reach(
                        index,
                        candidate,
                        load,
                        match.depth(candidate.slot(), Tier.EXTERNAL),
                        match.blocks());
    }

    /** The one in the worker's blocks; a single one in others is for all. */
    private static @Nullable PrefixMatch matchOf(Candidate candidate, List<PrefixMatch> matches) {
        for (int i = 0; i < matches.size(); i++) {
            if (matches.get(i).blockSize() == candidate.worker().blockSize()) {
                return matches.get(i);
            }
        }
        return matches.size() == 1 ? matches.getFirst() : null;
    }

    /**
     * @param index among the candidates that pins leave
     * @param load running requests
     * @param hits blocks from the start that it is taken to hold
     * @param total complete blocks of the prompt, 0 when not known
     */
    private record Reach(int index, Candidate candidate, int load, int hits, int total) {
        /** Running requests for each 1 of the candidate's weight. */
        double weighed() {
            return load / candidate.worker().weight();
        }

        /** With this request, how much of what the candidate can carry. */
        double share() {
            return (load + 1) / candidate.worker().weight();
        }

        String loadInWords() {
            double weight = candidate.worker().weight();
            return weight == 1 ? Integer.toString(load) : load + " / " + weight;
        }

        float ratio() {
            return total == 0 ? 0 : (float) hits / (float) total;
        }

        /** Positive: a longer prefix, or of equals the smaller load. */
        int comparePrefix(Reach o) {
            int longer = Float.compare(ratio(), o.ratio());
            return longer != 0 ? longer : Double.compare(o.share(), share());
        }

        /** Positive: a smaller load, or of equals the longer prefix. */
        int compareIdle(Reach o) {
            int idler = Double.compare(o.share(), share());
            return idler != 0 ? idler : Float.compare(ratio(), o.ratio());
        }

        String inWords() {
            return hits + " of " + total + " blocks (" + two(ratio()) + ")";
        }
    }
}
