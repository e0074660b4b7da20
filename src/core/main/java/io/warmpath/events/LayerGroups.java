package io.warmpath.events;

import io.warmpath.prefix.HybridSlots;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.SideBlocks;
import io.warmpath.prefix.SideBlocks.Group;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The groups of layers of one slot's model, where it has others than full attention: sliding
 * windows, and states of Mamba or linear attention. One thread.
 *
 * <p>A removal names the number of its group, never its kind, and groups share block hashes.
 */
final class LayerGroups {
    private final HybridSlots hybrids;
    private final WorkerSlot slot;

    /** Tokens per block of the worker; 0 when it is not known. */
    private final int blockSize;

    /** Those that events have named. */
    private final List<Group> groups = new ArrayList<>();

    /** Null while full attention alone was heard of. */
    private @Nullable SideBlocks sides;

    LayerGroups(HybridSlots hybrids, WorkerSlot slot, int blockSize) {
        this.hybrids = hybrids;
        this.slot = slot;
        this.blockSize = blockSize;
    }

    /** Learns the groups of a batch, before any event of it is applied. */
    void announce(List<KvEvent> events) {
        for (KvEvent event : events) {
            // A group beside full attention that has no number could not be told by its removals.
            if (event instanceof KvEvent.Stored s
                    && (s.scope().group() != KvEvent.Scope.NO_GROUP
                            || Media.decidesPrefix(s.scope().specKind()))) {
                heard(s);
            }
        }
        for (Group g : groups) {
            sides = sides == null && !g.isFull() ? hybrids.open(slot) : sides;
        }
        if (sides != null) {
            groups.forEach(sides::announce);
        }
    }

    private void heard(KvEvent.Stored e) {
        for (Group g : groups) {
            if (g.id() == e.scope().group()) {
                return;
            }
        }
        groups.add(group(e));
    }

    private Group group(KvEvent.Stored e) {
        KvEvent.Scope scope = e.scope();
        if (Media.decidesPrefix(scope.specKind())) {
            return new Group(scope.group(), Group.EVERY, 1);
        }
        int unit = blockSize > 0 ? blockSize : e.blockSize();
        if (e.blockSize() < 1 || e.blockSize() % unit != 0) {
            return new Group(scope.group(), 0, 1);
        }
        return new Group(scope.group(), Media.tail(scope, e.blockSize()), e.blockSize() / unit);
    }

    /** Whether an event is about another group than one of full attention. */
    boolean beside(KvEvent.Scope scope) {
        Group group = sides == null ? null : sides.group(scope.group());
        return !Media.decidesPrefix(scope.specKind()) || (group != null && !group.isFull());
    }

    /** Whether it is known what a prefix needs of the group of an event. */
    boolean follows(KvEvent.Scope scope) {
        Group group = sides == null ? null : sides.group(scope.group());
        return group != null && group.tail() != 0;
    }

    /** Blocks came into a group beside full attention; why they do not count, null when they do. */
    @Nullable DropReason stored(KvEvent.Stored e, Tier tier, PrefixSpace space) {
        Group group = sides == null ? null : sides.group(e.scope().group());
        if (sides == null || group == null || !follows(e.scope()) || tier != Tier.GPU) {
            return DropReason.SPEC_KIND;
        }
        if (e.unnamedLora()) {
            return DropReason.UNNAMED_LORA;
        }
        int n = e.hashes().length;
        // Blocks that no prefix ends with are left out, and the tokens are those of all.
        boolean consecutive =
                group.stride() == 1
                        && !e.bigram()
                        && e.plainBlocks() == n
                        && e.tokens().length == (long) n * e.blockSize();
        sides.stored(
                group,
                parent(e),
                e.hashes(),
                consecutive ? hybrids.hashes(e.tokens(), e.blockSize(), space) : null);
        return null;
    }

    /** Blocks came into full attention; these are what the index takes. */
    void storedFull(KvEvent.Stored e, Tier tier, long[] hashes, int[] tokens, PrefixSpace space) {
        Group group = sides == null ? null : sides.group(e.scope().group());
        if (sides != null && group != null && tier == Tier.GPU) {
            sides.stored(group, parent(e), hashes, hybrids.hashes(tokens, e.blockSize(), space));
        }
    }

    /** Blocks left a group; those of which it has no other copy. */
    long[] removed(int group, Tier tier, long[] hashes) {
        Group from = sides == null ? null : sides.group(group);
        return sides == null || from == null || tier != Tier.GPU
                ? hashes
                : sides.removed(from, hashes);
    }

    private static @Nullable Long parent(KvEvent.Stored e) {
        return e.hasParent() && e.parent() != 0 ? e.parent() : null;
    }

    void clear() {
        if (sides != null) {
            sides.clear();
        }
    }

    /** Another process, whose groups may be others. */
    void restarted() {
        groups.clear();
        if (sides != null) {
            hybrids.forget(slot);
            sides = null;
        }
    }

    SideBlocks.Memory memory() {
        return sides == null ? SideBlocks.Memory.NONE : sides.memory();
    }

    void restore(SideBlocks.Memory memory) {
        if (!memory.groups().isEmpty()) {
            groups.addAll(memory.groups());
            sides = hybrids.open(slot);
            if (sides != null) {
                sides.restore(memory);
            }
        }
    }
}
