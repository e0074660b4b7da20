package io.warmpath.lab;

import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.report.ComplaintTable;
import io.warmpath.lab.report.Disagreement;
import io.warmpath.lab.workload.Complaints;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;
import java.util.ArrayList;
import java.util.List;

/** All cells of a command, one after the other. A workload is drawn once and played by all. */
final class Campaign {
    private final LabFlags flags;
    private final Indexes indexes;
    private final Progress progress;
    private final List<Disagreement> disagreements = new ArrayList<>();

    Campaign(LabFlags flags, Indexes indexes, Progress progress) {
        this.flags = flags;
        this.indexes = indexes;
        this.progress = progress;
    }

    /** Complaints under the policies that were asked for, and each rule that one is about. */
    List<Result> complaints() {
        List<Result> results = new ArrayList<>();
        int done = 0;
        for (Scenario s : Complaints.ALL) {
            List<PolicyCatalog.Named> all = new ArrayList<>(flags.policies);
            for (ComplaintTable.Complaint c : ComplaintTable.ALL) {
                if (c.scenario().equals(s.name())) {
                    all.add(PolicyCatalog.find(c.naive()).orElseThrow());
                }
            }
            for (int seed = 1; seed <= flags.seeds; seed++) {
                Workload workload = s.draw().apply(seed);
                for (PolicyCatalog.Named p : all.stream().distinct().toList()) {
                    Cell cell =
                            new Cell(
                                    s,
                                    p,
                                    1,
                                    seed,
                                    flags.lagMillis,
                                    flags.replicas(),
                                    flags.onePiece);
                    progress.show(done, Complaints.ALL.size(), s.name() + " " + p.name());
                    results.add(CellRun.play(cell, workload, indexes));
                }
            }
            done++;
        }
        progress.show(1, 1, "");
        return results;
    }

    List<Result> play() {
        List<Result> results = new ArrayList<>();
        int all = flags.scenarios.size() * flags.seeds * flags.policies.size() * flags.loads.length;
        for (Scenario s : flags.scenarios) {
            for (int seed = 1; seed <= flags.seeds; seed++) {
                Workload workload = s.draw().apply(seed);
                for (double load : flags.loads) {
                    Disagreements pairs = new Disagreements(workload, indexes, flags.ours);
                    for (PolicyCatalog.Named p : flags.policies) {
                        Cell cell =
                                new Cell(
                                        s,
                                        p,
                                        load,
                                        seed,
                                        flags.lagMillis,
                                        flags.replicas(),
                                        flags.onePiece);
                        progress.show(results.size(), all, s.name() + " " + p.name() + " " + load);
                        Observed observed = CellRun.observe(cell, workload, indexes, null);
                        results.add(observed.result(cell, flags.limits(s)));
                        pairs.add(cell, observed);
                    }
                    if (flags.html != null && seed == 1) {
                        disagreements.addAll(pairs.find());
                    }
                }
            }
        }
        progress.show(all, all, "");
        return results;
    }

    /** Of seed 1, when a page is to be written. After {@link #play}. */
    List<Disagreement> disagreements() {
        return disagreements;
    }
}
