package io.warmpath.fleet;

/** Whether a worker gets requests. */
public enum WorkerState {
    /** Being asked what it serves. */
    STARTING,
    READY,
    /** Failed its health checks or refused connections; checked on until it answers again. */
    UNHEALTHY,
    /** Finishes what it has, gets nothing new. */
    DRAINING
}
