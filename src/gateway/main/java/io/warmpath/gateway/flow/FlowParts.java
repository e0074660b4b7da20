package io.warmpath.gateway.flow;

import io.warmpath.gateway.agent.SessionTurns;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.plan.Planning;
import io.warmpath.gateway.request.Sender;
import java.util.function.LongSupplier;

/**
 * What requests pass through. Shared by all event loops.
 *
 * @param planning from request to decision
 * @param sessions whose turn a request is
 * @param sending what happens at one worker
 * @param moving streams that go on elsewhere when their worker dies
 * @param retries how much may be asked of engines twice
 * @param nanoTime as {@link System#nanoTime}
 */
public record FlowParts(
        Planning planning,
        SessionTurns sessions,
        Sending sending,
        Moving moving,
        Retries retries,
        GatewayOptions options,
        FlowMetrics metrics,
        LongSupplier nanoTime) {
    /**
     * The same for requests that a proxy sends: once, to the engine that was chosen, whose answer
     * goes past here.
     */
    FlowParts proxied() {
        return new FlowParts(
                planning,
                sessions,
                sending,
                moving.off(),
                Retries.none(nanoTime),
                options.proxied(),
                metrics,
                nanoTime);
    }

    /** The same where this is what sends to engines. */
    FlowParts by(Sender sender) {
        return new FlowParts(
                planning,
                sessions,
                sending.by(sender),
                moving,
                retries,
                options,
                metrics,
                nanoTime);
    }
}
