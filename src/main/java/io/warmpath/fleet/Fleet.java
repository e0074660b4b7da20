package io.warmpath.fleet;

/** The fleet as request handling sees it. All methods any thread, no blocking. */
public interface Fleet {
    /** The newest snapshot; one volatile read. */
    FleetSnapshot snapshot();

    /** A request could not connect to, or was cut off by, this worker: check its health now. */
    void reportFailure(long workerId);
}
