package io.warmpath.config.router;

/** Which pages of a pool count, as configured. */
public enum SharedCacheHits {
    /** The run that goes on where the worker's own tiers end. */
    CONTIGUOUS,
    /** All behind the device prefix, also behind gaps. */
    ANY
}
