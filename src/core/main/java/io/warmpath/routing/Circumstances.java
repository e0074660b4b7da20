package io.warmpath.routing;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventTrust;
import java.util.List;
import java.util.Set;

/**
 * What held beside a decision: nothing of it is weighed, all of it is told with the reason.
 * Immutable.
 *
 * @param queuedNanos how long the request has waited for its turn, over all its attempts
 * @param events of each candidate of the request, in their order; empty where nobody asked for an
 *     explanation
 * @param drifted engines that make other tokens of such prompts than are predicted here, so that
 *     what they hold was not asked for
 * @param prompt what was known of the request's prompt
 */
public record Circumstances(
        long queuedNanos, List<EventTrust> events, Set<EngineKind> drifted, PromptKnown prompt) {
    public static final Circumstances NONE = new Circumstances(0, List.of());

    public Circumstances(long queuedNanos, List<EventTrust> events) {
        this(queuedNanos, events, Set.of(), PromptKnown.TOKENS);
    }

    public Circumstances {
        events = List.copyOf(events);
        drifted = Set.copyOf(drifted);
    }
}
