package io.warmpath.fleet;

import io.warmpath.prefix.WorkerSlot;

/** What the router chooses between: one rank of one worker. */
public record Candidate(Worker worker, int dpRank, WorkerSlot slot) {
    /** {@code name} or, with several ranks, {@code name/rank}. */
    public String label() {
        return worker.ranks().size() == 1 ? worker.name() : worker.name() + "/" + dpRank;
    }
}
