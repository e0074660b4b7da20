package io.warmpath.gateway.prompt;

import io.warmpath.fleet.Candidate;
import io.warmpath.prefix.BlockTracker;
import io.warmpath.prefix.NumberedSlots;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;

/**
 * Overlaps from where earlier prompts went: one {@link BlockTracker} for each model and block size,
 * made when it is first needed. Also gives out the slots, as there is no index. {@link #open} and
 * {@link #close(WorkerSlot)} are serialised with the first booking of a slot at a tracker, so that
 * no tracker keeps a worker that has left.
 */
public final class TrackerOverlaps implements Overlaps, WorkerSlots, AutoCloseable {
    /** Makes the tracker of one model and block size. */
    public interface Maker {
        BlockTracker make(String model, int blockSize);
    }

    private final Maker maker;
    private final ToIntFunction<String> blockSizeOf;
    private final NumberedSlots slots = new NumberedSlots();
    private final Map<Key, Tracked> trackers = new ConcurrentHashMap<>();
    private final LongAdder recorded = new LongAdder();

    /** {@code blockSizeOf}: tokens per block of a model; 0: as each worker tells. */
    public TrackerOverlaps(Maker maker, ToIntFunction<String> blockSizeOf) {
        this.maker = maker;
        this.blockSizeOf = blockSizeOf;
    }

    private record Key(String model, int blockSize) {}

    /** {@code joined}: the back ends that it knows; changed under the monitor of the whole only. */
    private record Tracked(BlockTracker tracker, Set<WorkerSlot> joined) {}

    @Override
    public List<PrefixMatch> matches(
            String model, PrefixSpace space, List<Candidate> candidates, PromptContent prompt) {
        int fixed = blockSizeOf.applyAsInt(model);
        if (fixed > 0) {
            PrefixQuery query = prompt.query(fixed, space);
            return query == null ? List.of() : List.of(find(model, query));
        }
        return Overlaps.oncePerBlockSize(candidates, space, prompt, query -> find(model, query));
    }

    private PrefixMatch find(String model, PrefixQuery query) {
        Tracked known = trackers.get(new Key(model, query.blockSize()));
        return known == null
                ? PrefixMatch.none(query.blockSize(), query.blocks())
                : known.tracker().find(query);
    }

    @Override
    public void booked(String model, PrefixSpace space, Candidate to, PromptContent prompt) {
        int fixed = blockSizeOf.applyAsInt(model);
        int blockSize = fixed > 0 ? fixed : to.worker().blockSize();
        PrefixQuery query = blockSize <= 0 ? null : prompt.query(blockSize, space);
        if (query == null) {
            return;
        }
        Tracked tracked =
                trackers.computeIfAbsent(
                        new Key(model, blockSize),
                        k ->
                                new Tracked(
                                        maker.make(k.model(), k.blockSize()),
                                        ConcurrentHashMap.newKeySet()));
        if (tracked.joined().contains(to.slot()) || join(tracked, to.slot())) {
            tracked.tracker().record(to.slot(), query);
            recorded.increment();
        }
    }

    /** False when the worker has left. */
    private synchronized boolean join(Tracked tracked, WorkerSlot slot) {
        if (!slots.isOpen(slot)) {
            return false;
        }
        tracked.tracker().join(slot);
        tracked.joined().add(slot);
        return true;
    }

    @Override
    public synchronized WorkerSlot open(int domain) {
        return slots.open(domain);
    }

    @Override
    public synchronized void close(WorkerSlot slot) {
        slots.close(slot);
        for (Tracked tracked : trackers.values()) {
            if (tracked.joined().remove(slot)) {
                tracked.tracker().leave(slot);
            }
        }
    }

    @Override
    public void tidy() {
        trackers.values().forEach(t -> t.tracker().evict());
    }

    /** Prompts that were recorded, over all trackers. */
    public long recorded() {
        return recorded.sum();
    }

    /** Sum over all trackers. */
    public BlockTracker.Stats stats() {
        BlockTracker.Stats sum = BlockTracker.Stats.NONE;
        for (Tracked t : trackers.values()) {
            try {
                sum = sum.plus(t.tracker().stats());
            } catch (IllegalStateException closed) {
                return BlockTracker.Stats.NONE; // a scrape during shutdown
            }
        }
        return sum;
    }

    /** After the last request and the last worker. */
    @Override
    public void close() {
        trackers.values().forEach(t -> t.tracker().close());
    }
}
