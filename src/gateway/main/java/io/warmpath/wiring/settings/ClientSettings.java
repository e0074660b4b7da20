package io.warmpath.wiring.settings;

import io.warmpath.config.http.HttpConfig;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.wiring.memory.MemoryPlan;

/** {@link HttpConfig}'s part of clients as the gateway takes it. Stateless. */
final class ClientSettings {
    private ClientSettings() {}

    /**
     * @param plan how much of the heap they may have together, where that is not configured
     * @param maxBodyBytes what one body may have; all together may have no less, or the largest
     *     would never be taken
     */
    static ClientBounds bounds(HttpConfig config, MemoryPlan plan, long maxBodyBytes) {
        long configured = config.maxBodyMemory().bytes();
        long wanted = configured > 0 ? configured : plan.bodies();
        return new ClientBounds(
                config.sseKeepAlive(),
                config.requestTimeout(),
                config.clients().bodyTimeout(),
                Math.max(wanted, maxBodyBytes));
    }
}
