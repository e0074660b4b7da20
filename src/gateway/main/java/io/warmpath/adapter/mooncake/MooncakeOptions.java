package io.warmpath.adapter.mooncake;

import java.time.Duration;

/**
 * How masters are asked.
 *
 * @param keysPerRequest most keys in one URL; a master takes thousands, proxies on the way may not
 * @param connections to one master; its admin port has four threads
 * @param timeout of one exchange, connecting and the whole body included
 * @param maxAnswerBytes of one answer; the rest is not read
 * @param viewCheck how often it is looked whether the leader still leads, while it is asked
 */
public record MooncakeOptions(
        int keysPerRequest,
        int connections,
        Duration timeout,
        int maxAnswerBytes,
        Duration viewCheck) {
    public static final MooncakeOptions DEFAULTS =
            new MooncakeOptions(256, 8, Duration.ofMillis(500), 8 << 20, Duration.ofSeconds(2));

    public MooncakeOptions {
        if (keysPerRequest < 1 || connections < 1 || maxAnswerBytes < 1) {
            throw new IllegalArgumentException(
                    "keys per request, connections and bytes are at least 1");
        }
        if (!timeout.isPositive() || viewCheck.isNegative()) {
            throw new IllegalArgumentException("the time-out is positive, times not negative");
        }
    }
}
