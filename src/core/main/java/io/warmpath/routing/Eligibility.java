package io.warmpath.routing;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Who may be chosen: the client's pins and the workers' taints, honoured in every mode. Stateless.
 * A mode that compares no costs has no way to weigh a preference: there only those that are
 * preferred most may be chosen.
 */
public final class Eligibility {
    public static final String WORKER_PARAM = "nvext.backend_instance_id";
    static final String RANK_PARAM = "nvext.dp_rank";
    static final String REQUIRED_PARAM = "nvext.required_taints";

    private Eligibility() {}

    /** The candidates that pins and taints leave, maybe none. */
    public static List<Candidate> left(
            List<Candidate> candidates,
            OptionalLong pinnedWorker,
            OptionalInt pinnedRank,
            TaintRules taints) {
        List<Candidate> left = new ArrayList<>(candidates.size());
        for (int i = 0; i < candidates.size(); i++) {
            Candidate c = candidates.get(i);
            if (misses(c, pinnedWorker, pinnedRank, taints).isEmpty()) {
                left.add(c);
            }
        }
        return left.size() == candidates.size() ? candidates : left;
    }

    /**
     * The same for a decision, never none.
     *
     * @param byCost costs are compared
     * @throws GatewayException when they leave none
     */
    static List<Candidate> narrow(RoutingRequest request, boolean byCost) {
        List<Candidate> all = request.candidates();
        List<Candidate> left =
                left(all, request.pinnedWorker(), request.pinnedRank(), request.taints());
        if (left.isEmpty()) {
            throw new GatewayException(refusal(request));
        }
        if (byCost) {
            return left;
        }
        double most = mostPreferred(left, request.taints());
        List<Candidate> best = new ArrayList<>(left.size());
        for (Candidate c : left) {
            if (request.taints().preference(c.worker()) == most) {
                best.add(c);
            }
        }
        return best.size() == left.size() ? left : best;
    }

    /** For each candidate of the request why it could not be chosen; empty when it could. */
    static List<String> reasons(RoutingRequest request, boolean byCost) {
        List<Candidate> all = request.candidates();
        double most =
                byCost
                        ? Double.NEGATIVE_INFINITY
                        : mostPreferred(
                                left(
                                        all,
                                        request.pinnedWorker(),
                                        request.pinnedRank(),
                                        request.taints()),
                                request.taints());
        List<String> reasons = new ArrayList<>(all.size());
        for (Candidate c : all) {
            String why = misses(c, request.pinnedWorker(), request.pinnedRank(), request.taints());
            boolean less = why.isEmpty() && request.taints().preference(c.worker()) < most;
            reasons.add(less ? "taints of others are preferred" : why);
        }
        return reasons;
    }

    static boolean pinned(RoutingRequest request) {
        return request.pinnedWorker().isPresent() || request.pinnedRank().isPresent();
    }

    private static double mostPreferred(List<Candidate> candidates, TaintRules taints) {
        double most = Double.NEGATIVE_INFINITY;
        for (Candidate c : candidates) {
            most = Math.max(most, taints.preference(c.worker()));
        }
        return most;
    }

    private static String misses(
            Candidate c, OptionalLong pinnedWorker, OptionalInt pinnedRank, TaintRules taints) {
        if (pinnedWorker.isPresent() && pinnedWorker.getAsLong() != c.worker().id()) {
            return "not the pinned worker";
        }
        if (pinnedRank.isPresent() && pinnedRank.getAsInt() != c.dpRank()) {
            return "not the pinned rank";
        }
        return taints.misses(c.worker());
    }

    /** Says what would have to be left out: pins first. */
    private static GatewayError refusal(RoutingRequest request) {
        List<Candidate> workers =
                left(
                        request.candidates(),
                        request.pinnedWorker(),
                        OptionalInt.empty(),
                        TaintRules.ANY);
        if (workers.isEmpty()) {
            return new GatewayError.BadRequest(
                    WORKER_PARAM,
                    "No ready worker with id "
                            + Long.toUnsignedString(request.pinnedWorker().orElseThrow())
                            + " serves this model; leave the worker id out or name another.");
        }
        List<Candidate> ranks =
                left(workers, OptionalLong.empty(), request.pinnedRank(), TaintRules.ANY);
        if (ranks.isEmpty()) {
            return new GatewayError.BadRequest(
                    RANK_PARAM,
                    "No ready worker that may serve this request has data-parallel rank "
                            + request.pinnedRank().orElseThrow()
                            + "; leave the rank out or name another.");
        }
        TaintRules required =
                new TaintRules(TaintRules.ANY.tolerated(), request.taints().required(), Map.of());
        if (left(ranks, OptionalLong.empty(), OptionalInt.empty(), required).isEmpty()) {
            return new GatewayError.BadRequest(
                    REQUIRED_PARAM,
                    "No ready worker that may serve this request has all of the taints "
                            + request.taints().required()
                            + "; leave one out.");
        }
        return new GatewayError.TaintsNotTolerated(
                ranks.stream()
                        .map(c -> request.taints().misses(c.worker()))
                        .distinct()
                        .limit(4)
                        .toList());
    }
}
