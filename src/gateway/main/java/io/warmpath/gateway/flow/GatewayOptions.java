package io.warmpath.gateway.flow;

import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.routing.TaintMatch;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Limits of one request's way through the gateway. Time-outs towards engines are in {@code
 * UpstreamOptions}.
 *
 * @param maxBodyBytes larger request bodies are answered with 413
 * @param holdBytes how much of an answer is held back before its first token, so that another
 *     worker can be tried unseen
 * @param tailBytes how much of an unfinished event is held back in a stream, so that an error event
 *     can follow cleanly
 * @param explain whether answers say in headers why the worker was chosen
 * @param tokenDeadline a prompt whose tokens take longer is routed by load alone
 * @param retryAfter what {@code Retry-After} says when no worker is there
 * @param bodyLinger how long the rest of a refused body is read and thrown away, so that the client
 *     gets to see the 413
 * @param stallTimeout a split request is done again whose prompt is so much later than expected
 *     where it is decoded; zero: never
 * @param requestUsage ask engines for the usage of streams; a client that has not asked for it does
 *     not get to see it
 * @param forwardNvext leave {@code nvext} in what engines get
 * @param forwardHandOff take from all clients what acts on engines or on other requests
 * @param rawPath write answers past the server's encoder where that is possible
 * @param classTolerations taints that requests of a policy class tolerate, by its name
 * @param clients what one client may cost, and what it is spared
 */
public record GatewayOptions(
        long maxBodyBytes,
        int holdBytes,
        int tailBytes,
        Explain explain,
        Duration tokenDeadline,
        Duration retryAfter,
        Duration bodyLinger,
        Duration stallTimeout,
        boolean requestUsage,
        boolean forwardNvext,
        boolean forwardHandOff,
        boolean rawPath,
        Map<String, List<TaintMatch>> classTolerations,
        ClientBounds clients) {

    /** When the {@code x-warmpath-*} headers that explain a decision are sent. */
    public enum Explain {
        OFF,
        /** When the request has {@code x-warmpath-explain: 1}. */
        ON_REQUEST,
        ALWAYS
    }

    public GatewayOptions {
        classTolerations = Map.copyOf(classTolerations);
        if (maxBodyBytes <= 0 || maxBodyBytes > Integer.MAX_VALUE - 1024) {
            throw new IllegalArgumentException(
                    "maxBodyBytes " + maxBodyBytes + " is not in 1.." + (Integer.MAX_VALUE - 1024));
        }
        if (holdBytes < 0 || tailBytes < 0) {
            throw new IllegalArgumentException(
                    "holdBytes " + holdBytes + " or tailBytes " + tailBytes + " is negative");
        }
        if (tokenDeadline.isNegative() || tokenDeadline.isZero() || bodyLinger.isNegative()) {
            throw new IllegalArgumentException(
                    "tokenDeadline %s or bodyLinger %s is wrong"
                            .formatted(tokenDeadline, bodyLinger));
        }
    }

    public GatewayOptions with(ClientBounds other) {
        return with(holdBytes, requestUsage, other);
    }

    /**
     * The same where answers go past here: nothing can be taken out of them, put into them or held
     * back, and a body is collected before there is a flow.
     */
    public GatewayOptions proxied() {
        return with(
                0,
                false,
                new ClientBounds(
                        Duration.ZERO,
                        clients.requestTimeout(),
                        clients.bodySpan(),
                        clients.bodyMemory()));
    }

    private GatewayOptions with(int hold, boolean usage, ClientBounds other) {
        return new GatewayOptions(
                maxBodyBytes,
                hold,
                tailBytes,
                explain,
                tokenDeadline,
                retryAfter,
                bodyLinger,
                stallTimeout,
                usage,
                forwardNvext,
                forwardHandOff,
                rawPath,
                classTolerations,
                other);
    }

    /** No policy class tolerates any taint, and {@code nvext} goes no further. */
    public static GatewayOptions defaults() {
        return new GatewayOptions(
                64L << 20,
                64 << 10,
                64 << 10,
                Explain.ON_REQUEST,
                Duration.ofSeconds(2),
                Duration.ofSeconds(1),
                Duration.ofSeconds(2),
                Duration.ofSeconds(30),
                false,
                false,
                false,
                true,
                Map.of(),
                ClientBounds.DEFAULTS);
    }
}
