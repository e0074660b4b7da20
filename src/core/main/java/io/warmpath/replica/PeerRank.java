package io.warmpath.replica;

/** A rank by the names that all gateways know it by. {@code worker}: its id. */
record PeerRank(long worker, int dpRank) {}
