package io.warmpath.wiring.channel;

import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.Tracing;
import org.jspecify.annotations.Nullable;

/**
 * What other systems get of requests.
 *
 * @param usage follows every request; null: nobody wants to know
 * @param decisions gets every decision; null: nobody wants to know
 */
public record RequestRecords(@Nullable Tracing usage, DecisionLog.@Nullable Sink decisions) {
    public static final RequestRecords NONE = new RequestRecords(null, null);
}
