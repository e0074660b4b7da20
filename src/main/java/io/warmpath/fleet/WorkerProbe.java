package io.warmpath.fleet;

/** Asks a worker about itself. Any thread; both calls block for up to their time-out. */
public interface WorkerProbe {
    /**
     * @throws ProbeException when it cannot be reached or its answers make no sense
     */
    WorkerProfile learn(WorkerSpec spec) throws ProbeException;

    /** One health check. Never throws for what a worker does. */
    Health health(WorkerSpec spec);

    /**
     * Outcome of a health check.
     *
     * @param detail what was seen, for the operator; may contain the worker's address
     */
    record Health(Verdict verdict, String detail) {}

    /** How a worker took a health check. */
    enum Verdict {
        OK,
        /** Answered badly or not in time; it may only be busy. */
        FAILING,
        /** Nobody listens at its port: the process is gone, and its cache with it. */
        REFUSED
    }
}
