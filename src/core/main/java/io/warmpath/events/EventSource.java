package io.warmpath.events;

import io.warmpath.fleet.EngineRanks;
import io.warmpath.prefix.WorkerSlot;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One publisher of KV events: usually one (worker, rank).
 *
 * @param worker name for messages
 * @param dpRank of the worker, from 0
 * @param slots slot per dp rank, index = rank; a rank inside a batch picks from here, else {@code
 *     dpRank}
 * @param ranks what ranks inside batches mean
 * @param endpoint ZeroMQ endpoint, such as {@code tcp://10.0.0.1:5557}
 * @param bind true when the router binds and the engine connects (llm-d's simulator)
 * @param replayEndpoint ROUTER socket that serves missed batches, null when there is none
 * @param topic subscription prefix, may be empty
 * @param blockSize tokens per block of this worker; stores of another size are counted and dropped
 * @param workerId u64 name of the worker, the same for every gateway
 * @param tagged who wants to hear of blocks that carry a tag
 */
public record EventSource(
        String worker,
        int dpRank,
        List<WorkerSlot> slots,
        EngineRanks ranks,
        String endpoint,
        boolean bind,
        @Nullable String replayEndpoint,
        String topic,
        int blockSize,
        long workerId,
        TaggedBlocks tagged) {

    /** Its engine counts ranks from 0; nobody hears of tags. */
    public EventSource(
            String worker,
            int dpRank,
            List<WorkerSlot> slots,
            String endpoint,
            boolean bind,
            @Nullable String replayEndpoint,
            String topic,
            int blockSize,
            long workerId) {
        this(
                worker,
                dpRank,
                slots,
                EngineRanks.of(slots.size()),
                endpoint,
                bind,
                replayEndpoint,
                topic,
                blockSize,
                workerId,
                TaggedBlocks.NOBODY);
    }

    /** For where only one gateway looks. */
    public EventSource(
            String worker,
            int dpRank,
            List<WorkerSlot> slots,
            String endpoint,
            boolean bind,
            @Nullable String replayEndpoint,
            String topic,
            int blockSize) {
        this(worker, dpRank, slots, endpoint, bind, replayEndpoint, topic, blockSize, 0);
    }

    /** The slot of the rank that the endpoint belongs to. */
    public WorkerSlot ownSlot() {
        return slots.get(dpRank < slots.size() ? dpRank : 0);
    }
}
