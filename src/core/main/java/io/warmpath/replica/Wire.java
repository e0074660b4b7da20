package io.warmpath.replica;

/**
 * The bytes between gateways: little-endian, without padding; src/docs/how-to/replicas.md has the
 * tables.
 *
 * <p>The header is the same for all kinds and versions up to the version itself; a message of an
 * unknown version is not read any further, one of an unknown kind counts for its number only.
 */
final class Wire {
    static final byte MAGIC_0 = 'W';
    static final byte MAGIC_1 = 'R';
    static final byte VERSION = 1;

    static final int AT_VERSION = 2;
    static final int AT_KIND = 3;
    static final int AT_ROUTER = 8;
    static final int AT_EPOCH = 16;
    static final int AT_SEQUENCE = 24;
    static final int HEADER = 32;

    /** Changes of bookings. */
    static final byte CHANGES = 1;

    /** That the sender lives, what its open bookings add up to, and how far it has heard others. */
    static final byte HEARTBEAT = 2;

    /** A part of all open bookings of the sender. */
    static final byte STATE = 3;

    /** A wish for the state of one gateway. */
    static final byte ASK = 4;

    /** The sender ends. */
    static final byte LEAVE = 5;

    /** Where sessions are bound. */
    static final byte SESSIONS = 6;

    static final byte SESSION_BOUND = 1;
    static final byte SESSION_MOVED = 2;
    static final byte SESSION_ENDED = 3;
    static final byte SESSION_OPENED = 4;
    static final byte SESSION_CLOSED = 5;

    /** Bytes of one session. */
    static final int SESSION_BYTES = 27;

    static final byte ADD = 1;
    static final byte PREFILLED = 2;
    static final byte FREE = 3;
    static final byte GROWN = 4;

    /** Bytes of an ADD without names. */
    static final int ADD_BYTES = 52;

    /** Bytes for each gateway that a heartbeat has heard. */
    static final int HEARD_BYTES = 24;

    /** Bytes of the longest of the others. */
    static final int CHANGE_BYTES = 17;

    static final int FLAG_PREFILLED = 1;
    static final int FLAG_SHARED = 2;

    static final int FLAG_FIRST = 1;
    static final int FLAG_LAST = 2;

    /** Names of blocks in one ADD; what comes behind them is taken for the request's own. */
    static final int MAX_NAMES = 1 << 14;

    static final int MAX_NAME_BYTES = 64;

    private Wire() {}

    /**
     * What one booking adds to the digest of a heartbeat: the sum over all open ones, modulo 2^64.
     */
    static long digest(long number, boolean prefilled) {
        long z = (number << 1 | (prefilled ? 1 : 0)) * 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
