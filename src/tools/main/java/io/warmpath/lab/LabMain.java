package io.warmpath.lab;

import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.report.Advice;
import io.warmpath.lab.report.CapacityPlot;
import io.warmpath.lab.report.CapacityTable;
import io.warmpath.lab.report.Comparison;
import io.warmpath.lab.report.ComplaintTable;
import io.warmpath.lab.report.Html;
import io.warmpath.lab.report.Lines;
import io.warmpath.lab.report.ResultTable;
import io.warmpath.lab.report.SplitStanding;
import io.warmpath.lab.report.Standing;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Scenarios;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;

/** The command {@code lab}. */
public final class LabMain {
    private static final int OK = 0;
    private static final int FAILED = 1;
    private static final int USAGE = 2;

    private LabMain() {}

    /** Runs a command to its end; returns the exit code. */
    public static int run(String[] args, Indexes indexes, PrintStream out, PrintStream err) {
        List<String> rest = Arrays.asList(args).subList(Math.min(1, args.length), args.length);
        String command = args.length == 0 ? "help" : args[0];
        try {
            if (command.equals("compare") && !rest.contains("--help")) {
                if (rest.size() != 2) {
                    throw new IllegalArgumentException("compare takes two files of --json");
                }
                out.print(Comparison.of(Path.of(rest.get(0)), Path.of(rest.get(1))));
                return OK;
            }
            if (command.equals("model") && !rest.contains("--help")) {
                if (rest.size() != 1) {
                    throw new IllegalArgumentException("model takes the name of a preset");
                }
                out.print(EngineFile.write(EngineFile.preset(rest.getFirst())));
                return OK;
            }
            LabFlags flags = LabFlags.parse(rest);
            if (flags.help || command.startsWith("-") || command.equals("help")) {
                out.print(LabHelp.TEXT);
                return OK;
            }
            flags.notes.forEach(err::println);
            return switch (command) {
                case "list" -> list(out);
                case "run" -> play(flags, indexes, out, err);
                case "routing" -> routing(flags, indexes, out, err);
                case "capacity" -> capacity(flags, indexes, out, err);
                case "tune" -> tune(flags, indexes, out, err);
                case "pressure" -> pressure(flags, indexes, out, err);
                case "size" -> size(flags, indexes, out, err);
                case "roles" -> roles(flags, indexes, out, err);
                default ->
                        throw new IllegalArgumentException(
                                "unknown command " + command + "; warmpath lab --help lists them");
            };
        } catch (IllegalArgumentException e) {
            err.println("warmpath lab: " + e.getMessage());
            return USAGE;
        } catch (IOException e) {
            err.println("warmpath lab: cannot read or write " + e.getMessage());
            return FAILED;
        }
    }

    private static int list(PrintStream out) {
        out.println("Scenarios");
        for (Scenario s : Scenarios.all()) {
            out.printf(
                    Locale.ROOT,
                    "  %-12s %-34s %s x %d, limit %.0f s%n",
                    s.name(),
                    s.about(),
                    s.model().name(),
                    s.engines(),
                    s.sloMillis() / 1000);
        }
        out.println("Policies");
        for (PolicyCatalog.Named p : PolicyCatalog.ALL) {
            out.printf("  %-16s %s%n", p.name(), p.about());
        }
        return OK;
    }

    private static int play(LabFlags flags, Indexes indexes, PrintStream out, PrintStream err)
            throws IOException {
        requireScenario(flags);
        Progress progress = new Progress(flags.quiet ? null : err, System::nanoTime);
        long began = processorNanos();
        Campaign campaign = new Campaign(flags, indexes, progress);
        List<Result> results = campaign.play();
        if (!flags.quiet) {
            double seconds = (processorNanos() - began) / 1e9;
            long played = results.stream().mapToLong(Result::played).sum();
            err.printf(
                    Locale.ROOT,
                    "%d requests in %.1f s of one core, %.0f a second%n",
                    played,
                    seconds,
                    played / seconds);
        }
        out.print(ResultTable.of(results));
        out.print(new Standing(results, flags.ours).markdown());
        out.print(new SplitStanding(results, flags.ours).markdown());
        if (flags.json != null) {
            Files.writeString(flags.json, Lines.json(results));
        }
        if (flags.csv != null) {
            Files.writeString(flags.csv, Lines.csv(results));
        }
        if (flags.html != null) {
            Files.writeString(flags.html, Html.of(results, flags.ours, campaign.disagreements()));
        }
        return OK;
    }

    /** Every complaint at the rate it was made for, under our policies and the rule it is about. */
    private static int routing(LabFlags flags, Indexes indexes, PrintStream out, PrintStream err) {
        Progress progress = new Progress(flags.quiet ? null : err, System::nanoTime);
        List<Result> results = new Campaign(flags, indexes, progress).complaints();
        out.print(ComplaintTable.of(results));
        return OK;
    }

    /** Of this thread, which plays everything; drawing workloads is in it. */
    private static long processorNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static int capacity(LabFlags flags, Indexes indexes, PrintStream out, PrintStream err)
            throws IOException {
        requireScenario(flags);
        Progress progress = new Progress(flags.quiet ? null : err, System::nanoTime);
        List<Capacity> found = new CapacitySearch(flags, indexes, progress).find();
        out.print(CapacityTable.of(found));
        if (flags.json != null) {
            Files.writeString(flags.json, CapacityTable.json(found));
        }
        if (flags.csv != null) {
            Files.writeString(flags.csv, CapacityTable.csv(found));
        }
        if (flags.svg != null) {
            Files.writeString(flags.svg, CapacityPlot.of(found));
        }
        return OK;
    }

    private static int size(LabFlags flags, Indexes indexes, PrintStream out, PrintStream err) {
        requireScenario(flags);
        Progress progress = new Progress(flags.quiet ? null : err, System::nanoTime);
        for (Scenario s : flags.scenarios) {
            if (!s.faults().isEmpty()) {
                throw new IllegalArgumentException(
                        s.name() + " is about single engines; size takes scenarios without that");
            }
            for (double load : flags.loads) {
                for (PolicyCatalog.Named p : flags.policies) {
                    Size.Found found = new Size(indexes, progress).find(s, p, load);
                    out.printf(
                            Locale.ROOT,
                            "%-10s load %-5s %-16s %4d engines, %.2f requests/s, p90 %.0f ms%n",
                            s.name(),
                            load,
                            p.name(),
                            found.engines(),
                            found.result().perSecond(),
                            found.result().ttft().p90());
                }
            }
        }
        return OK;
    }

    private static int roles(LabFlags flags, Indexes indexes, PrintStream out, PrintStream err)
            throws IOException {
        requireScenario(flags);
        Progress progress = new Progress(flags.quiet ? null : err, System::nanoTime);
        List<Result> all = new ArrayList<>();
        for (Scenario s : flags.scenarios) {
            for (double load : flags.loads) {
                SortedMap<Integer, Result> played = Roles.play(s, load, flags, indexes, progress);
                out.print(ResultTable.of(List.copyOf(played.values())));
                out.println(Roles.advice(played, s.engines()));
                all.addAll(played.values());
            }
        }
        if (flags.json != null) {
            Files.writeString(flags.json, Lines.json(all));
        }
        if (flags.csv != null) {
            Files.writeString(flags.csv, Lines.csv(all));
        }
        return OK;
    }

    private static int pressure(LabFlags flags, Indexes indexes, PrintStream out, PrintStream err) {
        requireScenario(flags);
        PolicyCatalog.Named policy = PolicyCatalog.find(flags.ours).orElseThrow();
        Progress progress = new Progress(flags.quiet ? null : err, System::nanoTime);
        for (Scenario s : flags.scenarios) {
            out.println(
                    PressureCurve.text(s, new PressureCurve(indexes, progress).find(s, policy)));
        }
        return OK;
    }

    private static int tune(LabFlags flags, Indexes indexes, PrintStream out, PrintStream err) {
        requireScenario(flags);
        flags.seeds = flags.seedsSaid ? flags.seeds : 4;
        Progress progress = new Progress(flags.quiet ? null : err, System::nanoTime);
        Tune.Outcome found = new Tune(flags, indexes, progress).run();
        out.printf(
                Locale.ROOT,
                "%d plays on the training part, best %+.1f %% against %s; blocks of %d tokens%n%n",
                found.plays(),
                100 * Math.expm1(found.training()),
                found.have(),
                found.blockTokens());
        out.print(
                new Advice(
                                found.results(),
                                found.have(),
                                found.snippets(),
                                flags.goal.words,
                                flags.goal::of)
                        .text());
        return OK;
    }

    private static void requireScenario(LabFlags flags) {
        if (flags.scenarios.isEmpty()) {
            throw new IllegalArgumentException(
                    "which scenario? warmpath lab list shows them, `all` is every one");
        }
    }
}
