package io.warmpath.adapter.zmq;

/**
 * Bounds of the connections of one owner.
 *
 * @param message bytes of one message; a larger one ends the connection
 * @param connections of one bound endpoint
 * @param room for what has come of unfinished messages, of all connections together
 */
record ZmtpLimits(long message, int connections, MessageRoom room) {
    /** Engines' batches stay far below. */
    private static final long ENGINES_MESSAGE = 64L << 20;

    /** An engine has one connection; its ranks, and its restarts, some more. */
    private static final int ENGINES = 1024;

    /** For engines' events. */
    static ZmtpLimits ofEvents(MessageRoom room) {
        return new ZmtpLimits(ENGINES_MESSAGE, ENGINES, room);
    }
}
