package io.warmpath.gateway.observe;

/** Why a worker was chosen at this moment. */
public enum DecisionCause {
    /** The request has come. */
    FIRST,
    /** Another worker has failed it, or none could be reached. */
    RETRY,
    /** Its answer goes on elsewhere. */
    MOVE,
    /** The worker that has it is late. */
    HEDGE,
    /** Somebody else will send it. */
    RESERVATION,
    /** Its prompt is computed for another worker, which answers. */
    PREFILL
}
