package io.warmpath.routing;

import io.warmpath.fleet.EventTrust;
import java.util.List;

/**
 * What held beside a decision: nothing of it is weighed, all of it is told with the reason.
 * Immutable.
 *
 * @param queuedNanos how long the request has waited for its turn, over all its attempts
 * @param events of each candidate of the request, in their order; empty where nobody asked for an
 *     explanation
 */
public record Circumstances(long queuedNanos, List<EventTrust> events) {
    public static final Circumstances NONE = new Circumstances(0, List.of());

    public Circumstances {
        events = List.copyOf(events);
    }
}
