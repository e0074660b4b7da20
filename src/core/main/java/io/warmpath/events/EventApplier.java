package io.warmpath.events;

import io.warmpath.prefix.Bigrams;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Brings one source's batches into the index: filters, picks the slot, names the space. One thread.
 *
 * <p>Only what token ids identify exactly is stored; anything else is dropped and counted. Too
 * little in the index costs a cold prefill, too much would send a request to the wrong worker.
 */
public final class EventApplier {
    /** Largest block size the index takes. */
    private static final int MAX_BLOCK_SIZE = 65_536;

    private final EventSource source;
    private final PrefixIndex index;
    private final EventCounters counters;
    private final SourceTally tally;
    private final Map<WorkerSlot, SlotView> views = new HashMap<>();
    private int wrongBlockSize;
    private boolean fits;
    private boolean simulator;

    /** What must be remembered of one slot to understand its later events. */
    private record SlotView(SpaceMemory spaces, LayerGroups groups) {}

    EventApplier(EventSource source, PrefixIndex index, EventCounters counters, SourceTally tally) {
        if (source.slots().isEmpty()) {
            throw new IllegalArgumentException("event source " + source.worker() + " has no slot");
        }
        this.source = source;
        this.index = index;
        this.counters = counters;
        this.tally = tally;
    }

    /** Tokens per block of what this source stores, when none of it is the worker's; else 0. */
    int wrongBlockSize() {
        return wrongBlockSize;
    }

    int blockSize() {
        return source.blockSize();
    }

    /** Whether it writes as llm-d's simulator does, into a socket. */
    boolean isSimulator() {
        return simulator && !PostedFeed.serves(source);
    }

    /** Applies one batch; true when it cleared all that this source has told of. */
    public boolean apply(KvBatch batch) {
        counters.batches.increment();
        counters.badEvents.add(batch.badEvents());
        counters.unknownFields.add(batch.unknownFields());
        WorkerSlot slot = slot(batch.rank());
        if (slot == null) {
            batch.events().forEach(e -> counters.drop(DropReason.UNKNOWN_RANK));
            return false;
        }
        SlotView view = view(slot);
        view.groups.announce(batch.events());
        boolean cleared = false;
        List<PrefixEvent> out = new ArrayList<>(batch.events().size());
        for (KvEvent event : batch.events()) {
            PrefixEvent e =
                    switch (event) {
                        case KvEvent.Stored s -> stored(slot, view, s);
                        case KvEvent.Removed r -> removed(slot, view, r);
                        case KvEvent.Cleared c -> cleared(slot, view);
                        case KvEvent.Unknown u -> {
                            counters.unknownTags.increment();
                            yield null;
                        }
                    };
            if (e != null) {
                out.add(e);
                cleared |= e instanceof PrefixEvent.Cleared;
            }
        }
        if (!out.isEmpty()) {
            counters.result(index.apply(out));
        }
        return cleared && views.size() == 1;
    }

    /** What is to be remembered beside the index to understand later events. */
    List<SourceMark.SlotMemory> memories() {
        List<SourceMark.SlotMemory> out = new ArrayList<>(views.size());
        views.forEach(
                (slot, view) ->
                        out.add(
                                new SourceMark.SlotMemory(
                                        slot, view.groups.memory(), view.spaces.blocks())));
        return out;
    }

    /** Goes on where another process stopped; the index holds what that one had applied. */
    void restore(List<SourceMark.SlotMemory> memories) {
        for (WorkerSlot slot : source.slots()) {
            // Also of slots that nothing is remembered of: forgetting must reach their blocks.
            views.remove(slot);
            view(slot);
        }
        for (SourceMark.SlotMemory m : memories) {
            SlotView view = view(m.slot());
            view.groups.restore(m.sides());
            view.spaces.restore(m.blocks());
        }
        fits = true;
    }

    private SlotView view(WorkerSlot slot) {
        return views.computeIfAbsent(
                slot,
                s ->
                        new SlotView(
                                new SpaceMemory(),
                                new LayerGroups(index.hybrids(), s, source.blockSize())));
    }

    /**
     * Forgets everything this source has told: its history can no longer be relied on.
     *
     * @param restarted the engine may be another one
     */
    public void forget(boolean restarted) {
        wrongBlockSize = 0;
        fits = false;
        simulator = false;
        List<PrefixEvent> out = new ArrayList<>();
        views.forEach(
                (slot, view) -> {
                    view.spaces.clear();
                    view.groups.clear();
                    if (restarted) {
                        view.groups.restarted();
                    }
                    out.add(new PrefixEvent.Cleared(slot));
                });
        if (!out.isEmpty()) {
            counters.result(index.apply(out));
        }
    }

    private @Nullable WorkerSlot slot(int rank) {
        int r = rank == KvBatch.NO_RANK ? -1 : source.ranks().local(rank);
        if (r >= 0) {
            return source.slots().get(r);
        }
        boolean socket = rank == KvBatch.NO_RANK || source.ranks().bySocket();
        return socket ? source.ownSlot() : null;
    }

    private @Nullable PrefixEvent stored(WorkerSlot slot, SlotView view, KvEvent.Stored e) {
        simulator |= e.hasParent() && e.parent() == 0;
        if (view.groups.beside(e.scope())) {
            return storedBeside(view, e);
        }
        Tier tier = Media.tier(e.medium());
        DropReason reason = refusal(e, tier);
        if (reason == DropReason.BLOCK_SIZE && !fits) {
            wrongBlockSize = e.blockSize();
        }
        if (reason != null || tier == null) {
            return drop(reason == null ? DropReason.UNKNOWN_MEDIUM : reason);
        }
        long[] hashes = e.hashes();
        int size = e.bigram() ? Bigrams.blockSize(e.blockSize()) : e.blockSize();
        int[] tokens =
                e.bigram() ? Bigrams.blocks(e.tokens(), hashes.length, e.blockSize()) : e.tokens();
        if (e.plainBlocks() < hashes.length) {
            counters.drop(DropReason.MULTIMODAL);
            hashes = Arrays.copyOf(hashes, e.plainBlocks());
            tokens = Arrays.copyOf(tokens, e.plainBlocks() * size);
            if (hashes.length == 0) {
                return null;
            }
        }
        PrefixSpace space = view.spaces.resolve(e);
        view.spaces.stored(hashes, tier, space);
        view.groups.storedFull(e, tier, hashes, tokens, space);
        source.tagged().stored(e, tier);
        counters.stored.increment();
        counters.storedBlocks.add(hashes.length);
        tally.add(SourceTally.Of.STORED_BLOCKS, hashes.length);
        if (tier != Tier.GPU) {
            tally.add(SourceTally.Of.OFFLOADED_BLOCKS, hashes.length);
        }
        fits = true;
        wrongBlockSize = 0;
        // llm-d's simulator writes 0 for "no parent"; no engine hash is 0 but by a chance of 2^-64.
        boolean hasParent = e.hasParent() && e.parent() != 0;
        return new PrefixEvent.Stored(
                slot, tier, hasParent, e.parent(), hashes, tokens, size, space);
    }

    private @Nullable PrefixEvent storedBeside(SlotView view, KvEvent.Stored e) {
        Tier tier = Media.tier(e.medium());
        if (isElsewhere(e.scope()) || tier == null) {
            return drop(tier == null ? DropReason.UNKNOWN_MEDIUM : DropReason.REMOTE);
        }
        DropReason reason = view.groups.stored(e, tier, view.spaces.resolve(e));
        if (reason != null) {
            return drop(reason);
        }
        counters.stored.increment();
        counters.storedBlocks.add(e.hashes().length);
        return null;
    }

    private @Nullable DropReason refusal(KvEvent.Stored e, @Nullable Tier tier) {
        int n = e.hashes().length;
        if (isElsewhere(e.scope())) {
            return DropReason.REMOTE;
        }
        if (tier == null) {
            return DropReason.UNKNOWN_MEDIUM;
        }
        if (n == 0) {
            return DropReason.EMPTY;
        }
        if (e.unnamedLora()) {
            return DropReason.UNNAMED_LORA;
        }
        if (e.tokens().length == 0) {
            return DropReason.NO_TOKENS;
        }
        if (e.blockSize() < 1
                || e.blockSize() > MAX_BLOCK_SIZE - (e.bigram() ? 1 : 0)
                || (source.blockSize() > 0 && e.blockSize() != source.blockSize())) {
            return n == 1 && e.blockSize() < source.blockSize()
                    ? DropReason.SHORT_PAGE
                    : DropReason.BLOCK_SIZE;
        }
        if (e.tokens().length != (long) n * e.blockSize() + (e.bigram() ? 1 : 0)) {
            return DropReason.TOKEN_COUNT;
        }
        return repeats(e);
    }

    private static @Nullable DropReason repeats(KvEvent.Stored e) {
        if (e.hashes().length == 1) {
            return e.hasParent() && e.hashes()[0] == e.parent() ? DropReason.SELF_PARENT : null;
        }
        long[] sorted = e.hashes().clone();
        Arrays.sort(sorted);
        if (e.hasParent() && Arrays.binarySearch(sorted, e.parent()) >= 0) {
            return DropReason.SELF_PARENT;
        }
        for (int i = 1; i < sorted.length; i++) {
            if (sorted[i] == sorted[i - 1]) {
                return DropReason.DUPLICATE_HASH;
            }
        }
        return null;
    }

    private @Nullable PrefixEvent removed(WorkerSlot slot, SlotView view, KvEvent.Removed e) {
        if (isElsewhere(e.scope())) {
            return drop(DropReason.REMOTE);
        }
        boolean beside = view.groups.beside(e.scope());
        if (beside && !view.groups.follows(e.scope())) {
            return drop(DropReason.SPEC_KIND);
        }
        Tier tier = Media.tier(e.medium());
        if (tier == null) {
            return drop(DropReason.UNKNOWN_MEDIUM);
        }
        if (e.hashes().length == 0) {
            return drop(DropReason.EMPTY);
        }
        counters.removed.increment();
        counters.removedBlocks.add(e.hashes().length);
        long[] gone = view.groups.removed(e.scope().group(), tier, e.hashes());
        if (beside || gone.length == 0) {
            return null;
        }
        view.spaces.removed(gone, tier);
        tally.add(SourceTally.Of.REMOVED_BLOCKS, gone.length);
        return new PrefixEvent.Removed(slot, tier, gone);
    }

    private PrefixEvent cleared(WorkerSlot slot, SlotView view) {
        view.spaces.clear();
        view.groups.clear();
        counters.cleared.increment();
        return new PrefixEvent.Cleared(slot);
    }

    private @Nullable PrefixEvent drop(DropReason reason) {
        counters.drop(reason);
        return null;
    }

    private static boolean isElsewhere(KvEvent.Scope scope) {
        return scope.locality() != null && !scope.locality().equals("LOCAL");
    }
}
