package io.warmpath.lab.policy;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import java.net.URI;
import java.util.List;
import java.util.Set;

/** An engine as the product sees it. */
final class LabEngineView {
    private static final String MODEL = "lab";

    private LabEngineView() {}

    /**
     * The next engine, in a slot of its own.
     *
     * @param alone it can do whole requests, whatever its role
     */
    static Candidate open(World world, WorkerSlots slots, int number, Role role, boolean alone) {
        WorkerSlot slot = slots.open(0);
        Worker worker =
                Worker.builder(number, "w" + number, URI.create("http://w" + number))
                        .kind(EngineKind.VLLM)
                        .models(Set.of(MODEL))
                        .blockSize(world.blockTokens())
                        .ranks(List.of(new Worker.Rank(0, slot)))
                        .disaggregation(new Disaggregation(role, alone, 0, ""))
                        .capacity(
                                new Capacity(
                                        world.model().batchTokens(),
                                        world.model().kvTokens() / world.blockTokens()))
                        .build();
        return new Candidate(worker, 0, slot);
    }
}
