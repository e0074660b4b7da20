package io.warmpath.fleet.probe;

import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.SessionSupport;
import java.util.List;

/**
 * What an engine says about itself through an interface of its own.
 *
 * @param version as the engine writes it, may be empty
 * @param blockSize tokens per KV block, 0 when it does not say
 * @param ranks its data-parallel ranks, none when it does not say
 * @param capacity of each rank, as far as it says
 * @param events its event sockets by the worker's ranks, empty when it does not publish
 * @param offload what it keeps below its device's memory
 * @param priorities what it makes of priorities
 * @param sessions how it keeps sessions
 * @param disaggregation which part of requests it does
 * @param cache what is special about it
 * @param unread what it tells in a form that is not usable, see {@link Unread}
 */
public record EngineFacts(
        EngineKind kind,
        String version,
        int blockSize,
        EngineRanks ranks,
        Capacity capacity,
        List<EventEndpoint> events,
        Offload offload,
        PriorityOrder priorities,
        SessionSupport sessions,
        Disaggregation disaggregation,
        CacheTraits cache,
        List<String> unread) {

    private static final int LONGEST_VERSION = 64;

    /** An engine that says nothing of memory below its device's, of priorities or of sessions. */
    public EngineFacts(
            EngineKind kind,
            String version,
            int blockSize,
            int dpSize,
            Capacity capacity,
            List<EventEndpoint> events,
            List<String> unread) {
        this(
                kind,
                version,
                blockSize,
                EngineRanks.of(dpSize),
                capacity,
                events,
                Offload.NONE,
                PriorityOrder.NOT_TAKEN,
                SessionSupport.STICKY,
                Disaggregation.NONE,
                CacheTraits.PLAIN,
                unread);
    }

    public EngineFacts {
        version = Unread.printable(version, LONGEST_VERSION);
        events = List.copyOf(events);
        unread = List.copyOf(unread);
    }
}
