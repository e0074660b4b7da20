package io.warmpath.wiring.channel;

import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.telemetry.UsageTracing;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What other systems get of requests.
 *
 * @param usage gets every request that has ended; null: nobody wants to know
 * @param decisions gets every decision; null: nobody wants to know
 */
public record RequestRecords(
        @Nullable Consumer<UsageTracing.Usage> usage, DecisionLog.@Nullable Sink decisions) {
    public static final RequestRecords NONE = new RequestRecords(null, null);
}
