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
import io.warmpath.lab.report.Standing;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Scenarios;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The command {@code lab}. */
public final class LabMain {
    private static final int OK = 0;
    private static final int FAILED = 1;
    private static final int USAGE = 2;

    private static final String HELP =
            """
            Usage: ./warmpath lab COMMAND [ARGUMENTS]

            Plays workloads against a fleet of engines in virtual time, with the product's own
            decision, load and index code inside, and with other routers' rules beside it.
            Trust ratios between policies, not milliseconds. No GPU, nothing is sent anywhere.

              list                   the scenarios and the policies
              run SCENARIO...        plays them; `all`: those of the standing table
                                     `unseen`: those that no constant was chosen on;
                                     `weak`: those on which the cost `latency` lost most
              routing                what routers were complained about, beside the rules that
                                     do it, each with its ratio
              capacity SCENARIO...   finds the requests/s at which each policy just keeps limits
                                     for TTFT and ITL, and which of them binds
              size SCENARIO...       finds how few engines keep it at the scenario's loads
              pressure SCENARIO...   what the policy of --ours takes the fleet's pressure to be,
                                     below and above the rate at which queues grow without end
              tune SCENARIO...       searches the weights of a cost on a part of the workload and
                                     reports on the rest; ends with YAML for the file of
                                     --config and the gain, or with `keep`
              model PRESET           prints an engine model, 8b or 70b, as --engine-file reads it
              compare A B            tells whether two files of --json differ by more than seeds do

              --policies A,B   which (kv,latency,least-loaded,round-robin); `all` is every one;
                               pair=4@25, smg-pd=4, dynamo-pd=4, dynamo-cond=4, llm-d-pd=4: four
                               engines compute prompts for the others, at 25 Gbit/s (100)
              --loads X,Y      parts of the scenario's capacity (0.7,0.9)
              --seeds N        draws 1 to N of each scenario (1)
              --routers N      gateways that take turns (1)
              --sync MS        after which they hear of each other's requests (never)
              --sync-limit MS  later news, or none for so long, and a router goes by its own (50)
              --fault F        freeze@30s:2:10s, speed@0s:2:0.5, leave@50%:2, join@25%, cut@30s:5s:
                               engine 2 stands still for 10 s, is half as fast, gets nothing
                               new; the fleet's last engine comes then; routers' news are lost
                               for 5 s. Times from the start or in parts of the arrivals' time;
                               repeatable
              --pool X         a pool that all engines write to and fetch from, times the
                               devices' memory (0)
              --pool-rate N    tokens/s that an engine fetches from it (the model's)
              --lag MS         after which engines' cache events are known (10)
              --ours A         the policy that peers' rules are compared with (latency)
              --json FILE      all results, a JSON line each
              --csv FILE       the same as a table
              --html FILE      the same as a page with plots, complete in itself
              --quiet          no progress
            Of `capacity`:
              --ttft MS        limit for the time to the first token (the scenario's)
              --itl MS         limit for a request's mean time between tokens (50)
              --percentile P   of requests that keep each of them: 50, 90, 95 or 99 (95)
              --svg FILE       the requests/s as bars
            Of `tune`, which has 4 seeds unless told otherwise:
              --policy P       latency, the cost in milliseconds, or kv, the one in blocks (latency)
              --budget N       plays of the search (150)
              --train X        part of the conversations to search on (0.5)
              --goal G         what to make small: ttft (mean), p99 (of ttft) or e2e (mean) (ttft)

            A SCENARIO may be a file: JSON lines or CSV with timestamp (ms), input_length,
            output_length, hash_ids, session; .gz or not. Its load 1 is the recorded rate.
              --model 8b|70b   engines (8b)                --engines N       how many (8)
              --engine-file F  engines of your own, YAML; also before the standing scenarios
              --host X         host memory, times the device's (0)
              --slo MS         limit for `capacity`, `size` (4000)
              --block-tokens N tokens of a hash (512)
              --closed         requests wait for their session's last answer
            --from-log FILE is what a gateway wrote with --explain-decisions-file, .gz or not: a
            SCENARIO of as many engines as it had; --loads (1) are parts of the recorded rate.
              --of-model NAME  only its requests
              --help           this text

            Example: ./warmpath lab run conv --policies all --loads 0.7 --csv conv.csv
            The same arguments give the same results, byte for byte. More: src/docs/lab.md.
            """;

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
                out.print(HELP);
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
