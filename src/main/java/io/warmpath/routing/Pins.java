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
            boolean worker =
                    request.pinnedWorker().isEmpty()
                            || request.pinnedWorker().getAsLong() == c.worker().id();
            boolean rank =
                    request.pinnedRank().isEmpty() || request.pinnedRank().getAsInt() == c.dpRank();
            workerThere |= worker;
            if (worker && rank) {
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

    /** {@code why}, with the client's part in it said first. */
    static String reason(RoutingRequest request, int left, String why) {
        if (!pinned(request)) {
            return why;
        }
        return left == 1 ? "pinned by client" : "pinned by client, " + why;
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
