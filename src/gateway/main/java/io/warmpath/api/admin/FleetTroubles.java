package io.warmpath.api.admin;

import io.warmpath.events.SourceReport;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerStatus;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Says in sentences why a gateway does less than it could. Any thread. */
final class FleetTroubles {
    /** Names in one sentence. */
    private static final int MOST_NAMED = 5;

    /** Where the tokens of a model's prompts come from when nobody knows them. */
    private static final Set<String> UNKNOWN_TOKENS = Set.of("none", "text prefix");

    private FleetTroubles() {}

    /**
     * @return empty: all is well
     */
    static List<String> of(
            List<WorkerStatus> workers,
            List<SourceReport> sources,
            WorkerFacts facts,
            FleetFacts fleet) {
        List<String> out = new ArrayList<>();
        if (workers.isEmpty()) {
            out.add("There is no worker: every request is refused.");
        } else if (workers.stream().noneMatch(s -> s.worker().serves())) {
            out.add("No worker gets requests: every request is refused.");
        } else if (!fleet.notReady().get().isEmpty()) {
            out.add("The gateway is not ready: " + fleet.notReady().get() + ".");
        }
        if (fleet.memoryFull().getAsBoolean()) {
            out.add("Memory is full: new requests are refused.");
        }
        add(
                out,
                workers.stream()
                        .filter(s -> !s.worker().available())
                        .filter(s -> !s.worker().state().isTakenOut())
                        .map(s -> s.worker().name())
                        .toList(),
                "get no requests; their `problem` says why.");
        if (facts.followsEvents()) {
            events(out, expected(workers, sources));
        }
        if (fleet.router().mode().looksAtTokens()) {
            tokens(out, workers, facts);
        }
        return out;
    }

    /**
     * Without those that have said nothing and need not: others fill the caches of engines that
     * only decode.
     */
    static List<SourceReport> expected(List<WorkerStatus> workers, List<SourceReport> sources) {
        Set<Long> decodeOnly =
                workers.stream()
                        .map(WorkerStatus::worker)
                        .filter(w -> w.disaggregation().decodesOnly())
                        .map(Worker::id)
                        .collect(Collectors.toSet());
        return sources.stream()
                .filter(r -> r.status().batches() > 0 || !decodeOnly.contains(r.workerId()))
                .toList();
    }

    private static void events(List<String> out, List<SourceReport> sources) {
        add(
                out,
                sources.stream()
                        .filter(r -> r.credit() < 1)
                        .map(r -> r.worker() + "/" + r.dpRank())
                        .toList(),
                "have KV events that are not wholly believed, so that less is found cached there"
                        + " than is.");
        add(
                out,
                sources.stream()
                        .filter(r -> r.endpoint() == null)
                        .map(SourceReport::worker)
                        .collect(Collectors.toCollection(TreeSet::new)),
                "send no KV events: what they have cached is not known.");
    }

    private static void tokens(List<String> out, List<WorkerStatus> workers, WorkerFacts facts) {
        Set<String> unknown = new TreeSet<>();
        Set<String> drifted = new TreeSet<>();
        for (WorkerStatus s : workers) {
            Worker w = s.worker();
            facts.tokens()
                    .apply(w)
                    .forEach(
                            (model, origin) -> {
                                if (UNKNOWN_TOKENS.contains(origin)) {
                                    unknown.add(model);
                                }
                            });
            drifted.addAll(facts.drifted().apply(w.kind()));
        }
        add(out, unknown, "have no tokenizer: their prompts' tokens are not known.");
        add(out, drifted, "have other tokens here than on the engines, so that no cache is found.");
    }

    private static void add(List<String> out, Collection<String> who, String what) {
        if (!who.isEmpty()) {
            String named = who.stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
            int more = who.size() - MOST_NAMED;
            out.add(named + (more > 0 ? " and " + more + " more" : "") + " " + what);
        }
    }
}
