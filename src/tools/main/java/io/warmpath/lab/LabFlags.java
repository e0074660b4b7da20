package io.warmpath.lab;

import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.DecisionLogFile;
import io.warmpath.lab.workload.Fault;
import io.warmpath.lab.workload.Recorded;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Scenarios;
import io.warmpath.lab.workload.Weaknesses;
import io.warmpath.lab.workload.Workload;
import io.warmpath.lab.workload.WorkloadFile;
import io.warmpath.sim.FlagValues;
import io.warmpath.sim.virtual.EngineModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.DoublePredicate;
import org.jspecify.annotations.Nullable;

/** What a command of the lab was told. Mutable while it is parsed, then only read. */
final class LabFlags {
    private static final Set<String> SWITCHES = Set.of("--quiet", "--closed", "--apart");

    boolean help;
    boolean quiet;
    List<Scenario> scenarios = new ArrayList<>();
    List<PolicyCatalog.Named> policies = new ArrayList<>();
    double[] loads = {0.7, 0.9};

    /** What the user should know of what was read, before anything is played. */
    List<String> notes = new ArrayList<>();

    int seeds = 1;
    int routers = 1;
    double syncMillis = -1;
    double syncLimitMillis = Replicas.LIMIT_MILLIS;
    private final List<Fault> faults = new ArrayList<>();
    private double poolFactor;
    private double poolRate;

    // Of capacity, and of what counts as goodput.
    private double ttftMillis; // 0: the scenario's own
    private double itlMillis = Limits.ITL_MILLIS;
    private int percentile = 95;

    // Of roles.
    boolean apart;
    int gigabits = 100;

    // Of tune.
    String tuned = "latency";
    int budget = 150;
    double train = 0.5;
    Tune.Goal goal = Tune.Goal.TTFT;
    boolean seedsSaid;

    // Of files.
    private final List<Path> logs = new ArrayList<>();
    private String ofModel = "";
    private double lastMinutes = Double.POSITIVE_INFINITY;
    private boolean loadsSaid;
    boolean closed;
    EngineModel model = EngineModel.SMALL;
    private @Nullable EngineModel ownModel;
    int engines; // 0: not said
    double hostFactor;
    double sloMillis = 4000;
    int blockTokens = 512;

    double lagMillis = Cell.LAG_MILLIS;
    double onePiece;
    String ours = "latency";
    @Nullable Path json;
    @Nullable Path csv;
    @Nullable Path html;
    @Nullable Path svg;

    private LabFlags() {}

    /**
     * @throws IllegalArgumentException saying which argument is wrong and what it takes
     */
    static LabFlags parse(List<String> args) {
        LabFlags flags = new LabFlags();
        FlagValues given = FlagValues.parse("warmpath lab", "", SWITCHES, args);
        flags.help = given.asksForHelp();
        flags.quiet = given.has("--quiet");
        flags.closed = given.has("--closed");
        flags.apart = given.has("--apart");
        given.given()
                .forEach(
                        (name, values) -> {
                            if (!SWITCHES.contains(name) && !name.equals("--help")) {
                                values.forEach(value -> flags.set(name, value));
                            }
                        });
        List<String> names = given.words();
        names.forEach(name -> flags.scenarios.addAll(flags.scenarios(name)));
        flags.logs.forEach(log -> flags.scenarios.add(flags.ofLog(log)));
        if (!flags.logs.isEmpty() && names.isEmpty() && !flags.loadsSaid) {
            flags.loads = new double[] {1};
        }
        flags.scenarios.replaceAll(flags::changed);
        if (flags.policies.isEmpty()) {
            flags.policies.addAll(policies("kv,latency,least-loaded,round-robin"));
        }
        return flags;
    }

    Replicas replicas() {
        return new Replicas(routers, syncMillis, syncLimitMillis);
    }

    /** For {@code capacity} and goodput. */
    Limits limits(Scenario of) {
        return new Limits(percentile, ttftMillis > 0 ? ttftMillis : of.sloMillis(), itlMillis);
    }

    /** As the flags want it. */
    private Scenario changed(Scenario s) {
        Scenario faulty = faults.isEmpty() ? s : s.withFaults(faults);
        faulty = ownModel == null ? faulty : faulty.withModel(ownModel);
        EngineModel of = poolRate > 0 ? faulty.model().withPoolRate(poolRate) : faulty.model();
        return poolFactor > 0 ? faulty.withPool(poolFactor, of) : faulty;
    }

    private void set(String name, String value) {
        switch (name) {
            case "--policies" -> policies.addAll(policies(value));
            case "--loads" -> {
                loadsSaid = true;
                loads =
                        Arrays.stream(value.split(",", -1))
                                .mapToDouble(v -> number(name, v, x -> x > 0 && x <= 10))
                                .toArray();
            }
            case "--from-log" -> logs.add(Path.of(value));
            case "--of-model" -> ofModel = value;
            case "--last" -> lastMinutes = number(name, value, x -> x > 0);
            case "--transfer-rate" ->
                    gigabits = (int) number(name, value, x -> x >= 1 && x <= 99_999);
            case "--seeds" -> {
                seedsSaid = true;
                seeds = (int) number(name, value, x -> x >= 1 && x <= 100);
            }
            case "--ttft" -> ttftMillis = number(name, value, x -> x > 0);
            case "--itl" -> itlMillis = number(name, value, x -> x > 0);
            case "--percentile" ->
                    percentile =
                            (int) number(name, value, x -> Spread.PERCENTILES.contains((int) x));
            case "--policy" -> tuned = oneOf(name, value, List.of("kv", "latency"));
            case "--budget" -> budget = (int) number(name, value, x -> x >= 1 && x <= 100_000);
            case "--train" -> train = number(name, value, x -> x >= 0.1 && x <= 0.9);
            case "--goal" ->
                    goal =
                            Tune.Goal.valueOf(
                                    oneOf(name, value, List.of("ttft", "p99", "e2e"))
                                            .toUpperCase(Locale.ROOT));
            case "--routers" -> routers = (int) number(name, value, x -> x >= 1 && x <= 64);
            case "--sync" -> syncMillis = number(name, value, x -> x >= 0 && x <= 60_000);
            case "--sync-limit" -> syncLimitMillis = number(name, value, x -> x >= 0);
            case "--fault" -> faults.add(Fault.parse(value));
            case "--pool" -> poolFactor = number(name, value, x -> x >= 0 && x <= 64);
            case "--pool-rate" -> poolRate = number(name, value, x -> x > 0);
            case "--lag" -> lagMillis = number(name, value, x -> x >= 0 && x <= 60_000);
            case "--one-piece" -> onePiece = number(name, value, x -> x >= 0 && x <= 1);
            case "--model" ->
                    model =
                            EngineModel.preset(value)
                                    .orElseThrow(
                                            () ->
                                                    new IllegalArgumentException(
                                                            "--model " + value + ": 8b or 70b"));
            case "--engine-file" -> ownModel = EngineFile.read(Path.of(value));
            case "--engines" -> engines = (int) number(name, value, x -> x >= 1 && x <= 1024);
            case "--host" -> hostFactor = number(name, value, x -> x >= 0 && x <= 64);
            case "--slo" -> sloMillis = number(name, value, x -> x > 0);
            case "--block-tokens" ->
                    blockTokens = (int) number(name, value, x -> x >= 1 && x <= 65_536);
            case "--ours" -> ours = policies(value).getFirst().name();
            case "--json" -> json = Path.of(value);
            case "--html" -> html = Path.of(value);
            case "--csv" -> csv = Path.of(value);
            case "--svg" -> svg = Path.of(value);
            default ->
                    throw new IllegalArgumentException(
                            "unknown flag " + name + "; warmpath lab --help lists them");
        }
    }

    private static String oneOf(String name, String value, List<String> known) {
        if (!known.contains(value)) {
            throw new IllegalArgumentException(
                    name + " " + value + ": must be " + String.join(" or ", known));
        }
        return value;
    }

    private List<Scenario> scenarios(String name) {
        Path file = Path.of(name);
        if (Files.isRegularFile(file)) {
            return List.of(ofFile(file));
        }
        if (name.equals("all")) {
            return Scenarios.STANDING;
        }
        if (name.equals("unseen")) {
            return Scenarios.UNSEEN;
        }
        if (name.equals("weak")) {
            return Weaknesses.ALL;
        }
        return List.of(
                Scenarios.find(name)
                        .orElseThrow(
                                () ->
                                        new IllegalArgumentException(
                                                "no scenario and no file "
                                                        + name
                                                        + "; warmpath lab list shows the"
                                                        + " scenarios")));
    }

    /** Load 1 is the rate that was recorded; draws are all the same. */
    private Scenario ofFile(Path file) {
        Workload workload;
        try {
            workload = WorkloadFile.read(file, blockTokens, closed);
        } catch (IOException e) {
            throw new IllegalArgumentException(file + " cannot be read: " + e.getMessage(), e);
        }
        return recorded(file, workload, engines == 0 ? 8 : engines);
    }

    /** As {@link #ofFile}; engines as many as the gateway had, unless said otherwise. */
    private Scenario ofLog(Path file) {
        Recorded log;
        try {
            log = DecisionLogFile.read(file, ofModel, lastMinutes, closed);
        } catch (IOException e) {
            throw new IllegalArgumentException(file + " cannot be read: " + e.getMessage(), e);
        }
        notes.add(file + ", " + log.summary());
        log.notes().forEach(line -> notes.add("  " + line));
        return recorded(file, log.workload(), engines == 0 ? log.engines() : engines);
    }

    private Scenario recorded(Path file, Workload workload, int fleet) {
        String name = file.getFileName().toString();
        return new Scenario(
                name, "a file", model, fleet, hostFactor, sloMillis, 1, List.of(), s -> workload);
    }

    private static List<PolicyCatalog.Named> policies(String names) {
        List<PolicyCatalog.Named> found = new ArrayList<>();
        for (String name : names.split(",", -1)) {
            if (name.equals("all")) {
                found.addAll(PolicyCatalog.ALL);
            } else {
                found.add(
                        PolicyCatalog.find(name)
                                .orElseThrow(
                                        () ->
                                                new IllegalArgumentException(
                                                        "unknown policy "
                                                                + name
                                                                + "; warmpath lab list shows"
                                                                + " them")));
            }
        }
        return found;
    }

    private static double number(String name, String value, DoublePredicate fits) {
        double parsed;
        try {
            parsed = Double.parseDouble(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " " + value + ": must be a number", e);
        }
        if (!fits.test(parsed)) {
            throw new IllegalArgumentException(name + " " + value + ": is out of range");
        }
        return parsed;
    }
}
