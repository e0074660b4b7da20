package io.warmpath.events;

import io.warmpath.prefix.PrefixIndex;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decodes batches and applies them to the index. One thread. */
final class DecodedBatches implements BatchSink {
    private final BatchDecoder decoder;
    private final EventApplier applier;

    DecodedBatches(
            EventSource source,
            PrefixIndex index,
            BatchDecoder decoder,
            EventCounters counters,
            SourceTally tally) {
        this.decoder = decoder;
        this.applier = new EventApplier(source, index, counters, tally);
    }

    @Override
    public Effect take(long sequence, byte[] payload) throws MalformedBatchException {
        KvBatch batch = decoder.decode(payload);
        boolean cleared = applier.apply(batch);
        if (batch.badEvents() > 0) {
            return Effect.PARTLY;
        }
        return cleared ? Effect.CLEARED : Effect.APPLIED;
    }

    @Override
    public boolean countsFromOne() {
        return applier.isSimulator();
    }

    @Override
    public void forget(boolean restarted) {
        applier.forget(restarted);
    }

    @Override
    public @Nullable String misfit() {
        int theirs = applier.wrongBlockSize();
        return theirs == 0
                ? null
                : "its blocks have "
                        + theirs
                        + " tokens, this worker's "
                        + applier.blockSize()
                        + "; set the block size of the worker, or of the engine";
    }

    @Override
    public List<SourceMark.SlotMemory> memories() {
        return applier.memories();
    }

    @Override
    public void restore(List<SourceMark.SlotMemory> memories) {
        applier.restore(memories);
    }
}
