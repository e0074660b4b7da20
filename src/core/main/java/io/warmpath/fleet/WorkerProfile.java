package io.warmpath.fleet;

import java.util.List;
import java.util.stream.Stream;

/**
 * What is known of a worker once it has answered: the operator's word first, the engine's second,
 * defaults last.
 *
 * @param version of the engine, may be empty
 * @param served at least one model, and none of a worker that encodes for others
 * @param blockSize tokens per KV block
 * @param blockSizeAssumed neither operator nor engine told it
 * @param ranks its data-parallel ranks, at least 1
 * @param capacity of each rank, as far as the engine says
 * @param events its event sockets; empty: routed by load alone
 * @param offload what it keeps below its device's memory
 * @param priorities what it makes of priorities
 * @param sessions how it keeps sessions
 * @param disaggregation which part of requests it does
 * @param cache what is special about it
 * @param disagreements where the engine says otherwise than the operator
 * @param unread what the engine tells of itself in a form that is not usable: to be asked again
 * @param noEvents why it is not known where its events are; empty: it is, or it has none
 */
public record WorkerProfile(
        EngineKind kind,
        String version,
        ServedModels served,
        int blockSize,
        boolean blockSizeAssumed,
        EngineRanks ranks,
        Capacity capacity,
        List<EventEndpoint> events,
        Offload offload,
        PriorityOrder priorities,
        SessionSupport sessions,
        Disaggregation disaggregation,
        CacheTraits cache,
        List<String> disagreements,
        List<String> unread,
        String noEvents) {

    public WorkerProfile {
        events = List.copyOf(events);
        disagreements = List.copyOf(disagreements);
        unread = List.copyOf(unread);
        boolean encodes = disaggregation.role() == Role.ENCODE;
        if (served.names().isEmpty() != encodes || blockSize <= 0 || ranks.count() == 0) {
            throw new IllegalArgumentException(
                    "a profile needs a model, a block size and a rank, not %s, %s, %s"
                            .formatted(served, blockSize, ranks.count()));
        }
    }

    /** All that is told of it and not used. */
    public List<String> unused() {
        return Stream.of(disagreements, unread).flatMap(List::stream).toList();
    }

    /** Data-parallel ranks. */
    public int dpSize() {
        return ranks.count();
    }
}
