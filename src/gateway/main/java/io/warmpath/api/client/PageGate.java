package io.warmpath.api.client;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import io.warmpath.access.PageRules;
import io.warmpath.fault.GatewayError;
import io.warmpath.net.LocalPeers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps pages of other sites away from what clients ask ({@link PageRules}). Immutable; any thread.
 *
 * @param keyless nobody has to show anything, so that a page of whatever name could ask
 */
public record PageGate(PageRules rules, boolean keyless) {
    /** The gateway's own pages alone. */
    public static PageGate own(boolean keyless) {
        return new PageGate(new PageRules(List.of()), keyless);
    }

    /** Null: the request may go on. */
    public @Nullable GatewayError refusal(HttpServerRequest request) {
        HostAndPort asked = request.authority();
        String host = asked == null ? "" : asked.toString();
        String why =
                rules.refusal(
                        request.headers().getAll("origin"),
                        request.headers().getAll("sec-fetch-site"),
                        host);
        if (why == null
                && !request.isSSL()
                && !allowsName(host)
                && LocalPeers.isLoopback(request.remoteAddress().hostAddress())) {
            why = PageRules.refusalOfName(host);
        }
        return why == null ? null : new GatewayError.Forbidden(why);
    }

    /** A request from this machine, without TLS, may ask for this host. */
    public boolean allowsName(String host) {
        return !keyless || rules.allowsName(host);
    }
}
