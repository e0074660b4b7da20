package io.warmpath.lab;

import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.policy.Why;
import io.warmpath.lab.report.Disagreement;
import io.warmpath.lab.workload.Workload;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds where policies sent the same request elsewhere, and plays them once more to hear why about
 * those few requests: equal cells give equal runs, so nobody has to keep every decision. One
 * thread.
 */
final class Disagreements {
    /** Decisions that are told of each pair. */
    private static final int TOLD = 12;

    /** So many policies are all held against each other, more only against ours. */
    private static final int ALL_PAIRS = 4;

    private final Workload workload;
    private final Indexes indexes;
    private final String ours;
    private final Map<Cell, Observed> seen = new LinkedHashMap<>();

    Disagreements(Workload workload, Indexes indexes, String ours) {
        this.workload = workload;
        this.indexes = indexes;
        this.ours = ours;
    }

    /** References share one memory: where they send a request says nothing. */
    void add(Cell cell, Observed observed) {
        if (cell.policy().kind() != PolicyCatalog.Kind.REFERENCE) {
            seen.put(cell, observed);
        }
    }

    /** Two cells, and the requests they are asked about. */
    private record Pair(Cell one, Cell other, int requests, int elsewhere, List<Integer> numbers) {}

    List<Disagreement> find() {
        List<Pair> pairs = pairs();
        Map<Cell, BitSet> wanted = new LinkedHashMap<>();
        for (Pair p : pairs) {
            for (int number : p.numbers()) {
                wanted.computeIfAbsent(p.one(), c -> new BitSet()).set(number);
                wanted.computeIfAbsent(p.other(), c -> new BitSet()).set(number);
            }
        }
        Map<Cell, Why> why = new LinkedHashMap<>();
        wanted.forEach((cell, numbers) -> why.put(cell, ask(cell, numbers)));
        List<Disagreement> found = new ArrayList<>();
        for (Pair p : pairs) {
            List<Disagreement.Example> examples = new ArrayList<>();
            for (int number : p.numbers()) {
                examples.add(
                        new Disagreement.Example(
                                number,
                                observed(p.one()).sentMillis(number) / 1000,
                                workload.prompt()[number],
                                workload.answer()[number],
                                side(p.one(), number, why),
                                side(p.other(), number, why)));
            }
            found.add(
                    new Disagreement(
                            p.one().scenario().name(),
                            p.one().load(),
                            p.one().policy().name(),
                            p.other().policy().name(),
                            p.requests(),
                            p.elsewhere(),
                            examples));
        }
        return found;
    }

    private List<Pair> pairs() {
        List<Cell> cells = new ArrayList<>(seen.keySet());
        cells.sort(Comparator.comparing(c -> !c.policy().name().equals(ours))); // stable
        List<Pair> pairs = new ArrayList<>();
        int leads = cells.size() <= ALL_PAIRS ? cells.size() : 1;
        for (int a = 0; a < leads; a++) {
            for (int b = a + 1; b < cells.size(); b++) {
                pairs.add(pair(cells.get(a), cells.get(b)));
            }
        }
        return pairs;
    }

    private Pair pair(Cell a, Cell b) {
        Observed one = observed(a);
        Observed other = observed(b);
        List<Integer> elsewhere = new ArrayList<>();
        int requests = 0;
        for (int i = 0; i < workload.size(); i++) {
            if (one.counts(i) && other.counts(i)) {
                requests++;
                if (one.engine(i) != other.engine(i)) {
                    elsewhere.add(i);
                }
            }
        }
        int all = elsewhere.size();
        elsewhere.sort(
                Comparator.comparingDouble(
                        i -> -Math.abs(one.ttftMillis(i) - other.ttftMillis(i))));
        return new Pair(
                a, b, requests, all, List.copyOf(elsewhere.subList(0, Math.min(TOLD, all))));
    }

    private Observed observed(Cell cell) {
        return java.util.Objects.requireNonNull(seen.get(cell));
    }

    private Why ask(Cell cell, BitSet numbers) {
        Why why = new Why(numbers, cell.scenario().engines());
        Observed again = CellRun.observe(cell, workload, indexes, why);
        numbers.stream()
                .filter(i -> again.engine(i) != observed(cell).engine(i))
                .findFirst()
                .ifPresent(
                        i -> {
                            throw new IllegalStateException(
                                    "request %s goes elsewhere when it is asked why: %s"
                                            .formatted(i, cell));
                        });
        return why;
    }

    private Disagreement.Side side(Cell cell, int number, Map<Cell, Why> why) {
        Observed o = observed(cell);
        Why reasons = java.util.Objects.requireNonNull(why.get(cell));
        return new Disagreement.Side(
                o.engine(number),
                o.ttftMillis(number),
                o.cachedTokens(number),
                reasons.reason(number),
                reasons.terms(number));
    }
}
