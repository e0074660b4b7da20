package io.warmpath.api;

import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.routing.TaintMatch;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** {@link GatewayOptions} that differ from others in what a test says. */
final class Options {
    long maxBodyBytes;
    int holdBytes;
    int tailBytes;
    Duration tokenDeadline;
    Duration stallTimeout;
    boolean requestUsage;
    boolean forwardHandOff;
    boolean rawPath;
    Map<String, List<TaintMatch>> classTolerations;
    ClientBounds clients;

    private Options(GatewayOptions from) {
        maxBodyBytes = from.maxBodyBytes();
        holdBytes = from.holdBytes();
        tailBytes = from.tailBytes();
        tokenDeadline = from.tokenDeadline();
        stallTimeout = from.stallTimeout();
        requestUsage = from.requestUsage();
        forwardHandOff = from.forwardHandOff();
        rawPath = from.rawPath();
        classTolerations = from.classTolerations();
        clients = from.clients();
    }

    /** The default but for the change. */
    static GatewayOptions of(Consumer<Options> change) {
        return of(GatewayOptions.defaults(), change);
    }

    static GatewayOptions of(GatewayOptions from, Consumer<Options> change) {
        Options o = new Options(from);
        change.accept(o);
        return new GatewayOptions(
                o.maxBodyBytes,
                o.holdBytes,
                o.tailBytes,
                from.explain(),
                o.tokenDeadline,
                from.retryAfter(),
                from.bodyLinger(),
                o.stallTimeout,
                o.requestUsage,
                from.forwardNvext(),
                o.forwardHandOff,
                o.rawPath,
                o.classTolerations,
                o.clients);
    }
}
