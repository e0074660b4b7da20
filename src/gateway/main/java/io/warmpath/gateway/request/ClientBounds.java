package io.warmpath.gateway.request;

import java.time.Duration;

/**
 * What one client may cost, and what it is spared: silence, endless waiting. Immutable.
 *
 * @param keepAlive a stream that is silent towards its client for this long says that it is alive;
 *     zero: never
 * @param requestTimeout a request that takes longer in all is ended; zero: never
 * @param bodySpan over HTTP/2 a body must bring 500 bytes for each second of every such span; zero:
 *     it may take its time. (Over HTTP/1 the connection is watched.)
 * @param bodyMemory bytes of all requests' bodies together, from 1; a body beyond it is refused
 */
public record ClientBounds(
        Duration keepAlive, Duration requestTimeout, Duration bodySpan, long bodyMemory) {
    /** No limit of any kind. */
    public static final ClientBounds OFF =
            new ClientBounds(Duration.ZERO, Duration.ZERO, Duration.ZERO, Long.MAX_VALUE);

    /** As the keys' defaults, for a heap of 1 GiB. */
    public static final ClientBounds DEFAULTS =
            new ClientBounds(
                    Duration.ofSeconds(15),
                    Duration.ofHours(6),
                    Duration.ofSeconds(20),
                    256L << 20);

    public ClientBounds {
        if (keepAlive.isNegative()
                || requestTimeout.isNegative()
                || bodySpan.isNegative()
                || bodyMemory < 1) {
            throw new IllegalArgumentException(
                    "keepAlive %s, requestTimeout %s, bodySpan %s or bodyMemory %s is wrong"
                            .formatted(keepAlive, requestTimeout, bodySpan, bodyMemory));
        }
    }
}
