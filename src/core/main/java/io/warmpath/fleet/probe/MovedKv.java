package io.warmpath.fleet.probe;

/**
 * KV cache that an engine has fetched from others since it started, as it counts it. Immutable.
 *
 * @param tokens of prompts
 * @param bytes all layers and devices together
 * @param transfers each device of the engine fetches its part by one or more of its own
 * @param seconds that the transfers took, summed up, those at the same time too
 */
public record MovedKv(double tokens, double bytes, double transfers, double seconds) {
    public static final MovedKv NONE = new MovedKv(0, 0, 0, 0);

    public MovedKv plus(MovedKv other) {
        return new MovedKv(
                tokens + other.tokens,
                bytes + other.bytes,
                transfers + other.transfers,
                seconds + other.seconds);
    }

    /**
     * What came after {@code before}. Returns something negative where the engine has started anew.
     */
    public MovedKv since(MovedKv before) {
        return new MovedKv(
                tokens - before.tokens,
                bytes - before.bytes,
                transfers - before.transfers,
                seconds - before.seconds);
    }
}
