package io.warmpath.wiring.settings;

import io.warmpath.config.http.HttpConfig;
import io.warmpath.gateway.request.ClientBounds;

/** {@link HttpConfig}'s part of clients as the gateway takes it. Stateless. */
final class ClientSettings {
    /** Of the heap: requests hold more than their bodies. */
    private static final int HEAP_SHARE = 4;

    private ClientSettings() {}

    /**
     * @param maxBodyBytes what one body may have; all together may have no less, or the largest
     *     would never be taken
     */
    static ClientBounds bounds(HttpConfig config, long maxBodyBytes) {
        long configured = config.maxBodyMemory().bytes();
        long wanted = configured > 0 ? configured : Runtime.getRuntime().maxMemory() / HEAP_SHARE;
        return new ClientBounds(
                config.sseKeepAlive(),
                config.requestTimeout(),
                config.clients().bodyTimeout(),
                Math.max(wanted, maxBodyBytes));
    }
}
