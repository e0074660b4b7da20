package io.warmpath.lab;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;
import java.util.Comparator;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How many engines of a fleet should compute prompts for the others. Seed 1. Plays the fleet
 * without roles and, up to nine engines, with each number; of larger fleets every second, third and
 * so on, then those around the best.
 */
final class Roles {
    /** Numbers that are played first. */
    private static final int FIRST = 8;

    /** Part of the most goodput that a choice has to keep. */
    private static final double ENOUGH = 0.98;

    /** Roles have to bring the time to the first token below this part of what it is without. */
    private static final double WORTH = 0.97;

    private final Workload workload;
    private final Cell cell;
    private final LabFlags flags;
    private final Indexes indexes;
    private final Progress progress;

    /** By number of engines that compute prompts; 0: each does whole requests. */
    private final SortedMap<Integer, Result> played = new TreeMap<>();

    private Roles(Cell cell, LabFlags flags, Indexes indexes, Progress progress) {
        this.cell = cell;
        this.flags = flags;
        this.indexes = indexes;
        this.progress = progress;
        this.workload = cell.scenario().draw().apply(cell.seed());
    }

    /**
     * By number of engines that compute prompts; 0: the fleet without roles.
     *
     * @throws IllegalArgumentException when there is one engine
     */
    static SortedMap<Integer, Result> play(
            Scenario scenario, double load, LabFlags flags, Indexes indexes, Progress progress) {
        if (scenario.engines() < 2) {
            throw new IllegalArgumentException("one engine has no roles to take; --engines N");
        }
        Cell whole = new Cell(scenario, named("latency"), load, 1);
        Roles roles = new Roles(whole, flags, indexes, progress);
        roles.search();
        progress.show(1, 1, "");
        return roles.played;
    }

    private void search() {
        play(0);
        int last = cell.scenario().engines() - 1;
        int step = Math.ceilDiv(last, FIRST);
        for (int prefills = step; prefills <= last; prefills += step) {
            play(prefills);
        }
        for (; step > 0; step /= 2) {
            int before;
            do {
                before = played.size();
                int best = best(played.tailMap(1));
                play(Math.max(1, best - step));
                play(Math.min(last, best + step));
            } while (played.size() > before);
        }
    }

    private void play(int prefills) {
        if (played.containsKey(prefills)) {
            return;
        }
        String kind = flags.apart ? "pair-apart=" : "pair=";
        Cell of =
                prefills == 0
                        ? cell
                        : new Cell(
                                        cell.scenario(),
                                        named(kind + prefills + "@" + flags.gigabits),
                                        cell.load(),
                                        cell.seed())
                                .withOnePiece(cell.onePiece());
        progress.show(played.size(), FIRST + 1, of.scenario().name() + " " + of.policy().name());
        played.put(
                prefills,
                CellRun.observe(of, workload, indexes, null)
                        .result(of, flags.limits(of.scenario())));
    }

    private static PolicyCatalog.Named named(String policy) {
        return PolicyCatalog.find(policy).orElseThrow();
    }

    /** Of those that keep nearly the most goodput, the one with the least mean TTFT. */
    private static int best(SortedMap<Integer, Result> of) {
        double most = of.values().stream().mapToDouble(Result::goodPerSecond).max().orElse(0);
        return of.entrySet().stream()
                .filter(e -> e.getValue().goodPerSecond() >= ENOUGH * most)
                .min(Comparator.comparingDouble(e -> e.getValue().ttft().mean()))
                .orElseThrow()
                .getKey();
    }

    /** What to do, in one line, and what that is beside the other. */
    static String advice(SortedMap<Integer, Result> played, int engines) {
        Result whole = Objects.requireNonNull(played.get(0));
        int prefills = best(played.tailMap(1));
        Result split = Objects.requireNonNull(played.get(prefills));
        boolean pays =
                best(played) > 0
                        && (split.ttft().mean() < WORTH * whole.ttft().mean()
                                || whole.goodPerSecond() < ENOUGH * split.goodPerSecond());
        String ofSplit =
                "%d of %d engines for prompts (%s)".formatted(prefills, engines, figures(split));
        String ofWhole = "no roles (" + figures(whole) + ")";
        return pays
                ? "advice: " + ofSplit + "; " + ofWhole
                : "advice: " + ofWhole + "; with roles, " + ofSplit;
    }

    private static String figures(Result r) {
        return plain(
                "mean TTFT %.0f ms, mean ITL %.1f ms, goodput %.2f/s",
                r.ttft().mean(), r.itl().mean(), r.goodPerSecond());
    }
}
