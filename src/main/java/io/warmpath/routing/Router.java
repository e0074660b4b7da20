package io.warmpath.routing;

import io.warmpath.fault.GatewayException;

/** The pure decision. Any thread; microseconds; no I/O. */
public interface Router {
    /**
     * @throws GatewayException BadRequest when a pinned worker or rank is not among the candidates
     */
    RoutingDecision decide(RoutingRequest request);

    RouterMode mode();
}
