package io.warmpath.replica;

import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.WorkerSlot;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Slots of this gateway and the names that all gateways know ranks by, both ways. Not thread-safe.
 */
final class Ranks {
    /**
     * A rank as it is now.
     *
     * @param incarnation grows with every process of the worker that this gateway has seen
     */
    record Place(PeerRank rank, WorkerSlot slot, int incarnation) {}

    private final Fleet fleet;
    private long version = -1;
    private Map<PeerRank, Place> byRank = Map.of();
    private Map<WorkerSlot, Place> bySlot = Map.of();

    /** Of ranks that have gone too: one that comes back is another incarnation. */
    private final Map<PeerRank, Integer> incarnations = new HashMap<>();

    Ranks(Fleet fleet) {
        this.fleet = fleet;
    }

    /** True when the fleet has changed since. Cost otherwise: a volatile read. */
    boolean refresh() {
        FleetSnapshot now = fleet.snapshot();
        if (now.version() == version) {
            return false;
        }
        version = now.version();
        Map<PeerRank, Place> ranks = new HashMap<>();
        Map<WorkerSlot, Place> slots = new HashMap<>();
        for (Worker worker : now.workers()) {
            for (Worker.Rank r : worker.ranks()) {
                PeerRank rank = new PeerRank(worker.id(), r.dpRank());
                Place before = byRank.get(rank);
                Place place =
                        before != null && before.slot().equals(r.slot())
                                ? before
                                : new Place(
                                        rank, r.slot(), incarnations.merge(rank, 1, Integer::sum));
                ranks.put(rank, place);
                slots.put(r.slot(), place);
            }
        }
        byRank = ranks;
        bySlot = slots;
        return true;
    }

    /** Null: not, or no longer, in the fleet. */
    @Nullable Place of(WorkerSlot slot) {
        return bySlot.get(slot);
    }

    /** Null: this gateway does not know it. */
    @Nullable Place of(PeerRank rank) {
        return byRank.get(rank);
    }
}
