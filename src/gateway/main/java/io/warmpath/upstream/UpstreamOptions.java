package io.warmpath.upstream;

import io.warmpath.net.Deadlines;
import java.time.Duration;

/**
 * Limits of the connections to engines. There is no limit on a whole answer.
 *
 * @param connectTimeout until the TCP (and TLS) connection stands
 * @param generation for chats and completions
 * @param passThrough for all other APIs
 * @param keepAlive how long an unused connection is kept; must stay below the engine's own (uvicorn
 *     closes after 5 s), or requests meet connections that are just being closed
 * @param maxConnectionsPerWorker per event loop; a request beyond it waits for a connection
 * @param gather how long an event loop pauses in a burst, so that more bytes gather; zero for
 *     never, at most {@link #MAX_GATHER}
 */
public record UpstreamOptions(
        Duration connectTimeout,
        AnswerTimeouts generation,
        AnswerTimeouts passThrough,
        Duration keepAlive,
        int maxConnectionsPerWorker,
        Duration gather) {
    public static final Duration MAX_GATHER = Duration.ofNanos(200_000);

    public UpstreamOptions {
        positive("connectTimeout", connectTimeout);
        positive("keepAlive", keepAlive);
        if (maxConnectionsPerWorker <= 0) {
            throw new IllegalArgumentException(
                    "maxConnectionsPerWorker " + maxConnectionsPerWorker + " is not positive");
        }
        if (gather.isNegative() || gather.compareTo(MAX_GATHER) > 0) {
            throw new IllegalArgumentException(
                    "gather " + gather + " is not between 0 and " + MAX_GATHER);
        }
    }

    public static UpstreamOptions defaults() {
        return new UpstreamOptions(
                Duration.ofSeconds(2),
                new AnswerTimeouts(Duration.ofSeconds(600), Duration.ofSeconds(120)),
                new AnswerTimeouts(Duration.ofSeconds(600), Duration.ofSeconds(120)),
                Duration.ofSeconds(4),
                16_384,
                Duration.ofNanos(100_000));
    }

    AnswerTimeouts timeouts(UpstreamRequest request) {
        return request.passThrough() ? passThrough : generation;
    }

    /** How often to look for calls whose time is over. */
    long sweepMillis() {
        return Deadlines.sweepMillis(
                connectTimeout,
                generation.firstByte(),
                generation.idle(),
                passThrough.firstByte(),
                passThrough.idle(),
                keepAlive);
    }

    static void positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " " + value + " is not positive");
        }
    }
}
