package io.warmpath.routing.rates;

import io.warmpath.fleet.Candidate;
import io.warmpath.prefix.WorkerSlot;
import java.util.List;

/** What is known of how fast each rank is and of what was sent there: now, or at a kept moment. */
public interface Speeds {
    /** The moment, in nanoseconds of the router's clock. */
    long now();

    RateState state(WorkerSlot slot);

    /** Mean length of an answer. */
    double outputTokens();

    /** What other gateways may have sent meanwhile. */
    Unheard unheard();

    /** Of these candidates together. */
    FleetRates fleet(List<Candidate> candidates, long now);
}
