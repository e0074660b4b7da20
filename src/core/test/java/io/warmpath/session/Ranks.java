package io.warmpath.session;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.WorkerSlot;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Small fleets of workers with two ranks each. */
final class Ranks {
    private Ranks() {}

    static List<Candidate> of(int... workers) {
        List<Candidate> all = new ArrayList<>();
        for (int id : workers) {
            List<Worker.Rank> ranks =
                    List.of(
                            new Worker.Rank(0, new WorkerSlot(2 * id)),
                            new Worker.Rank(1, new WorkerSlot(2 * id + 1)));
            Worker worker =
                    Worker.builder(id, "w" + id, URI.create("http://w" + id))
                            .kind(EngineKind.SGLANG)
                            .models(Set.of("m"))
                            .blockSize(16)
                            .ranks(ranks)
                            .build();
            ranks.forEach(r -> all.add(new Candidate(worker, r.dpRank(), r.slot())));
        }
        return all;
    }

    static List<Candidate> first(int workers) {
        return of(IntStream.range(0, workers).toArray());
    }

    static SessionKey key(String tenant, String id) {
        return new SessionKey(new SessionKey.Scope("m", tenant), id);
    }
}
