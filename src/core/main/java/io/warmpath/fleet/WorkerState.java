package io.warmpath.fleet;

/** Whether a worker gets requests. */
public enum WorkerState {
    /** Being asked what it serves. */
    STARTING,
    READY,
    /** Has said that its queue takes no more: gets nothing while others can, for a moment. */
    FULL,
    /** Its requests fail or are far too slow: gets nothing until its pause is over. */
    SUSPENDED,
    /** Was suspended: gets one request at a time until enough of them went well. */
    TRIAL,
    /** Says itself that it takes nothing new; running requests finish, and it may come back. */
    PAUSED,
    /** Failed its health checks or refused connections; checked on until it answers again. */
    UNHEALTHY,
    /** Finishes what it has, gets nothing new, and is removed then. */
    DRAINING,
    /** Finishes what it has, gets nothing new, and stays until whoever holds it lets it go. */
    DRAINED;

    /** People or sources took it out: no answer of its engine changes that. */
    public boolean isTakenOut() {
        return this == DRAINING || this == DRAINED;
    }
}
