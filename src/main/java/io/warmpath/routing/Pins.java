package io.warmpath.routing;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import java.util.ArrayList;
import java.util.List;

/** What the client insists on, honoured in every mode. Stateless. */
final class Pins {
    static final String WORKER_PARAM = "nvext.backend_instance_id";
    static final String RANK_PARAM = "nvext.dp_rank";

    private Pins() {}

    /**
     * The candidates that the client's pins leave, never none.
     *
     * @throws GatewayException BadRequest when they leave none
     */
    static List<Candidate> narrow(RoutingRequest request) {
        if (request.candidates().isEmpty()) {
            throw new IllegalArgumentException("a decision needs at least one candidate");
        }
        if (!pinned(request)) {
            return request.candidates();
        }
        List<Candidate> left = new ArrayList<>();
        boolean workerThere = request.pinnedWorker().isEmpty();
        for (Candidate c : request.candidates()) {
            workerThere |=
                    request.pinnedWorker().isPresent()
                            && request.pinnedWorker().getAsLong() == c.worker().id();
            if (misses(request, c).isEmpty()) {
                left.add(c);
            }
        }
        if (left.isEmpty()) {
            throw new GatewayException(refusal(request, workerThere));
        }
        return left;
    }

    static boolean pinned(RoutingRequest request) {
        return request.pinnedWorker().isPresent() || request.pinnedRank().isPresent();
    }

    /** Why the pins leave this candidate out; empty when they do not. */
    static String misses(RoutingRequest request, Candidate c) {
        if (request.pinnedWorker().isPresent()
                && request.pinnedWorker().getAsLong() != c.worker().id()) {
            return "not the pinned worker";
        }
        if (request.pinnedRank().isPresent() && request.pinnedRank().getAsInt() != c.dpRank()) {
            return "not the pinned rank";
        }
        return "";
    }

    private static GatewayError refusal(RoutingRequest request, boolean workerThere) {
        if (!workerThere) {
            return new GatewayError.BadRequest(
                    WORKER_PARAM,
                    "No ready worker with id "
                            + Long.toUnsignedString(request.pinnedWorker().orElseThrow())
                            + " serves this model; leave the worker id out or name another.");
        }
        return new GatewayError.BadRequest(
                RANK_PARAM,
                "No ready worker that may serve this request has data-parallel rank "
                        + request.pinnedRank().orElseThrow()
                        + "; leave the rank out or name another.");
    }
}
