package io.warmpath.routing.scenario;

import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import org.jspecify.annotations.Nullable;

/** How a worker is chosen in a scenario: the product's way, or a naive one as its control. */
@FunctionalInterface
interface Rule {
    Pick pick(RoutingRequest request, Lab lab);

    /**
     * @param worker number of the candidate
     * @param decision null for a naive rule
     */
    record Pick(int worker, @Nullable RoutingDecision decision) {
        Pick(int worker) {
            this(worker, null);
        }
    }
}
