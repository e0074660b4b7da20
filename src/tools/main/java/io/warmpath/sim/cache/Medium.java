package io.warmpath.sim.cache;

/** Where a block lies on a simulated engine. */
public enum Medium {
    GPU,
    HOST
}
