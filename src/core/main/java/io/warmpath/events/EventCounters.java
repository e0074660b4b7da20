package io.warmpath.events;

import io.warmpath.prefix.ApplyResult;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What has happened on the write path since the start. Written by feed threads, read by any.
 *
 * <p>Plain adders: metrics are bound to the getters elsewhere. Every counter only grows.
 */
public final class EventCounters {
    final LongAdder batches = new LongAdder();
    final LongAdder rejectedBatches = new LongAdder();
    final LongAdder stored = new LongAdder();
    final LongAdder removed = new LongAdder();
    final LongAdder cleared = new LongAdder();
    final LongAdder storedBlocks = new LongAdder();
    final LongAdder removedBlocks = new LongAdder();
    final LongAdder unknownTags = new LongAdder();
    final LongAdder unknownFields = new LongAdder();
    final LongAdder badEvents = new LongAdder();
    final LongAdder badFrames = new LongAdder();
    final LongAdder duplicates = new LongAdder();
    final LongAdder gaps = new LongAdder();
    final LongAdder repaired = new LongAdder();
    final LongAdder gapsLost = new LongAdder();
    final LongAdder restarts = new LongAdder();
    final LongAdder replays = new LongAdder();
    final LongAdder replayedBatches = new LongAdder();
    final LongAdder replayFailures = new LongAdder();
    final LongAdder pollFailures = new LongAdder();
    final LongAdder applied = new LongAdder();
    final LongAdder orphans = new LongAdder();
    final LongAdder unknownRemoved = new LongAdder();
    final LongAdder ignored = new LongAdder();
    private final Map<DropReason, LongAdder> dropped = new EnumMap<>(DropReason.class);

    public EventCounters() {
        for (DropReason reason : DropReason.values()) {
            dropped.put(reason, new LongAdder());
        }
    }

    /** A readable event was not applied. */
    public void drop(DropReason reason) {
        adder(reason).increment();
    }

    void result(ApplyResult result) {
        applied.add(result.applied());
        orphans.add(result.orphans());
        unknownRemoved.add(result.unknownRemoved());
        ignored.add(result.ignored());
    }

    private LongAdder adder(DropReason reason) {
        LongAdder adder = dropped.get(reason);
        if (adder == null) {
            throw new IllegalStateException("no counter for " + reason);
        }
        return adder;
    }

    /** A batch came that is known already. */
    public void duplicate() {
        duplicates.increment();
    }

    /** A message whose frames are not an event message. */
    public void badFrame() {
        badFrames.increment();
    }

    /** An engine was asked for its events and gave none that could be read. */
    public void pollFailed() {
        pollFailures.increment();
    }

    /** Batches applied, live and replayed. */
    public long batches() {
        return batches.sum();
    }

    /** Payloads that were not a batch. */
    public long rejectedBatches() {
        return rejectedBatches.sum();
    }

    public long storedEvents() {
        return stored.sum();
    }

    public long removedEvents() {
        return removed.sum();
    }

    public long clearedEvents() {
        return cleared.sum();
    }

    public long storedBlocks() {
        return storedBlocks.sum();
    }

    public long removedBlocks() {
        return removedBlocks.sum();
    }

    /** Events of a kind this version does not know. */
    public long unknownTags() {
        return unknownTags.sum();
    }

    /** Fields of known events that this version does not know. */
    public long unknownFields() {
        return unknownFields.sum();
    }

    /** Events skipped because their content made no sense. */
    public long badEvents() {
        return badEvents.sum();
    }

    public long badFrames() {
        return badFrames.sum();
    }

    /** Live batches that a replay had already brought. */
    public long duplicates() {
        return duplicates.sum();
    }

    /** Holes in a sequence, repaired or not. */
    public long gaps() {
        return gaps.sum();
    }

    /** Holes that were filled. */
    public long repaired() {
        return repaired.sum();
    }

    /** Holes that could not be filled: the rank's content was forgotten. */
    public long gapsLost() {
        return gapsLost.sum();
    }

    /** Publishers that started anew. */
    public long restarts() {
        return restarts.sum();
    }

    /** Replay requests sent. */
    public long replays() {
        return replays.sum();
    }

    public long replayedBatches() {
        return replayedBatches.sum();
    }

    /** Replay requests that were not answered in time. */
    public long replayFailures() {
        return replayFailures.sum();
    }

    /** Engines asked for their events in vain. */
    public long pollFailures() {
        return pollFailures.sum();
    }

    /** Events that changed or confirmed the index. */
    public long applied() {
        return applied.sum();
    }

    /** Stored events the index kept aside for want of their parent. */
    public long orphans() {
        return orphans.sum();
    }

    /** Removals of blocks the index did not have. */
    public long unknownRemoved() {
        return unknownRemoved.sum();
    }

    /** Events of a slot that was closed meanwhile. */
    public long ignored() {
        return ignored.sum();
    }

    /** Readable events not applied, by reason. */
    public long dropped(DropReason reason) {
        return adder(reason).sum();
    }
}
