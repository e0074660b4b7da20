package io.warmpath.config;

/** Who leaves the queue first, as configured. */
public enum QueueOrder {
    FCFS,
    WSPT
}
