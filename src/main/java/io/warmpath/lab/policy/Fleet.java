package io.warmpath.lab.policy;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The engines as the product sees them. */
final class Fleet {
    static final String MODEL = "lab";

    private Fleet() {}

    static List<Candidate> open(World world, WorkerSlots slots) {
        List<Candidate> all = new ArrayList<>();
        for (int i = 0; i < world.engines().size(); i++) {
            WorkerSlot slot = slots.open(0);
            Worker worker =
                    new Worker(
                            i,
                            "w" + i,
                            URI.create("http://w" + i),
                            EngineKind.VLLM,
                            Set.of(MODEL),
                            world.blockTokens(),
                            WorkerState.READY,
                            List.of(new Worker.Rank(0, slot)),
                            new Capacity(
                                    world.model().batchTokens(),
                                    world.model().kvTokens() / world.blockTokens()));
            all.add(new Candidate(worker, 0, slot));
        }
        return List.copyOf(all);
    }
}
