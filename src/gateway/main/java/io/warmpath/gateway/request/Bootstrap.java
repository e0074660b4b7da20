package io.warmpath.gateway.request;

/**
 * Where the two halves of a split request meet, as SGLang wants it: both are sent at once, and the
 * engine that decodes asks the registry of the one that prefills for the room.
 *
 * @param host of the engine that prefills, as the one that decodes can reach it; without a port
 * @param port of its registry
 * @param room 0 or above; no other request has it meanwhile
 */
public record Bootstrap(String host, int port, long room) implements Half {
    /**
     * An engine with several ranks takes the rank that the room leaves when it is divided by them:
     * nothing else has to be said of it. {@code random}: 64 random bits.
     */
    public static Bootstrap of(String host, int port, int ranks, int rank, long random) {
        long turn = (random >>> 1) / ranks - 1;
        return new Bootstrap(host, port, Math.max(0, turn) * ranks + rank);
    }
}
