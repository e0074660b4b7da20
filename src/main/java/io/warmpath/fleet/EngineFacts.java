package io.warmpath.fleet;

import java.util.List;

/**
 * What an engine says about itself through an interface of its own.
 *
 * @param version as the engine writes it, may be empty
 * @param blockSize tokens per KV block, 0 when it does not say
 * @param dpSize data-parallel ranks, 0 when it does not say
 * @param capacity of each rank, as far as it says
 * @param events its event sockets, empty when it does not publish
 * @param offload what it keeps below its device's memory
 */
public record EngineFacts(
        EngineKind kind,
        String version,
        int blockSize,
        int dpSize,
        Capacity capacity,
        List<EventEndpoint> events,
        Offload offload) {

    /** An engine that says nothing of memory below its device's. */
    public EngineFacts(
            EngineKind kind,
            String version,
            int blockSize,
            int dpSize,
            Capacity capacity,
            List<EventEndpoint> events) {
        this(kind, version, blockSize, dpSize, capacity, events, Offload.NONE);
    }

    public EngineFacts {
        events = List.copyOf(events);
    }
}
