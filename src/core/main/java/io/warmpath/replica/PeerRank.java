package io.warmpath.replica;

/**
 * A rank by the names that all gateways know it by.
 *
 * @param worker its id
 */
record PeerRank(long worker, int dpRank) {}
