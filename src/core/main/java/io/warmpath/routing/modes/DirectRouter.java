package io.warmpath.routing.modes;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.routing.Eligibility;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;

/**
 * The worker that the client names; a request that names none is refused.
 *
 * <p>Any thread. Where the client leaves the rank open, the cheapest rank of its worker is taken.
 *
 * @param amongRanks chooses when the named worker has several ranks; made with this mode
 */
record DirectRouter(Router amongRanks) implements Router {
    @Override
    public RoutingDecision decide(RoutingRequest request) {
        if (request.pinnedWorker().isEmpty()) {
            throw new GatewayException(
                    new GatewayError.BadRequest(
                            Eligibility.WORKER_PARAM,
                            "This gateway routes by request (router mode direct): name a worker in"
                                    + " nvext.backend_instance_id or the header"
                                    + " x-dynamo-worker-instance-id."));
        }
        return amongRanks.decide(request);
    }

    @Override
    public RouterMode mode() {
        return RouterMode.DIRECT;
    }
}
