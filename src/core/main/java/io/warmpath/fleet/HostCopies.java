package io.warmpath.fleet;

/** When an engine copies blocks of its device to host memory, as far as it says. */
public enum HostCopies {
    /** Never, or it does not say. */
    NONE,
    /** Soon after they are computed. */
    EARLY,
    /** Only those that are used again. */
    SELECTIVE,
    /** Only when the device needs their room. */
    ON_EVICTION
}
