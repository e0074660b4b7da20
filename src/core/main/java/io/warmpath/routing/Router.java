package io.warmpath.routing;

import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.rates.FleetPressure;
import io.warmpath.routing.rates.Sent;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** The pure decision. Any thread; microseconds; no I/O. */
public interface Router {
    /**
     * @throws GatewayException BadRequest when a pinned worker or rank is not among the candidates
     */
    RoutingDecision decide(RoutingRequest request);

    RouterMode mode();

    /** The router for requests of this model: itself, unless models have settings of their own. */
    default Router forModel(String model) {
        return this;
    }

    /**
     * The decision is acted on. A router that learns from answers is told by what it returns.
     *
     * @param streamed the answer's first token will be seen
     */
    default Sent sent(RoutingDecision decision, boolean streamed) {
        return Sent.UNSEEN;
    }

    /**
     * Another gateway has sent a request: work for its worker, of which nothing is learnt.
     *
     * @param prefillTokens to compute of its prompt
     * @param expectedOutput tokens of its answer; 0: as many as others have
     * @param prefilled its first token has come already
     */
    default Sent sentByPeer(
            WorkerSlot slot,
            int prefillTokens,
            int promptTokens,
            int expectedOutput,
            boolean prefilled) {
        return Sent.UNSEEN;
    }

    /**
     * A worker has said how many requests wait in its queue now: those that were thought to be
     * computed, as no first token is seen of them, are not.
     */
    default void waiting(WorkerSlot slot, int requests) {}

    /**
     * The gateways whose requests are told by {@link #sentByPeer}, from now on.
     *
     * @param place of this one among them, from 0
     * @param gateways with this one; 1: there is no other
     */
    default void among(int place, int gateways) {}

    /**
     * How much there is to do for these ranks beside what they can do. Looks at every rank and
     * every request that waits.
     *
     * @param candidates at least one
     * @return empty when the router keeps no speeds
     */
    default Optional<FleetPressure> pressure(List<Candidate> candidates) {
        return Optional.empty();
    }

    /**
     * Observed prefill time of this rank against what the priors say; 1 where nothing is learnt. Of
     * the fleet's part, as a decision saw it last.
     */
    default double prefillFactor(WorkerSlot slot) {
        return 1;
    }

    /**
     * Of the prompt blocks that these ranks computed lately, the part that some engine had computed
     * before and that none held any more. Empty when the router keeps no speeds.
     */
    default OptionalDouble evicted(List<Candidate> candidates) {
        return OptionalDouble.empty();
    }
}
