package io.warmpath.sim.demo;

import io.warmpath.sim.SimOptions;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** {@code warmpath demo}, with or without {@code --pool}: people and their conversations. */
final class ChatDemo {
    private static final String TURNS = "round-robin";
    private static final String KV = "kv";
    private static final String POOL = "kv + pool";

    /**
     * Every answer of the pool counts, and none is remembered as missing: predictions are compared
     * with what the engines find a moment later.
     */
    private static final Map<String, String> POOL_SETTINGS =
            Map.of(
                    "WARMPATH_SHARED_CACHE_DEADLINE", "1s",
                    "WARMPATH_SHARED_CACHE_TIMEOUT", "10s",
                    "WARMPATH_SHARED_CACHE_MISSING_TTL", "0ms");

    private static final List<String> POOL_FLAGS = List.of("--shared-cache-type", "hicache");

    /** The cost in milliseconds counts the transfer; that in blocks has to be told a worth. */
    private static final List<String> POOL_WORTH = List.of("--shared-cache-multiplier", "0.5");

    private final DemoFlags flags;
    private final SimTokenizer tokenizer;
    private final DemoFiles scratch;
    private final Terminal terminal;
    private final DemoWorkload workload;
    private final DemoClock pace = new DemoClock();

    ChatDemo(DemoFlags flags, SimTokenizer tokenizer, DemoFiles scratch, Terminal terminal) {
        this.flags = flags;
        this.tokenizer = tokenizer;
        this.scratch = scratch;
        this.terminal = terminal;
        this.workload =
                new DemoWorkload(
                        flags.conversations, flags.turns, flags.prompts, flags.load, flags.seed);
    }

    /** Returns 0; 1 when something was not as predicted, or there was no gain. */
    int play() throws DemoFailure, IOException, InterruptedException {
        List<Stage.Setup> setups = setups();
        Outcome outcome = new Outcome(flags.pool ? "Warmpath demo, pool" : "Warmpath demo");
        outcome.about(terminal, about(), setups);
        try (SideBySide stages = SideBySide.start(setups, tokenizer, terminal)) {
            List<StageRun> runs = played(stages);
            DemoVerdict verdict = new DemoVerdict(pace);
            StageRun last = runs.getLast();
            if (flags.pool) {
                judged(verdict, last);
                verdict.gains(runs.get(1), runs.getFirst());
                verdict.gains(last, runs.getFirst());
                verdict.findsMore(last, runs.get(1));
            } else {
                runs.forEach(run -> judged(verdict, run));
                verdict.gains(last, runs.getFirst());
            }
            verdict.allEnginesWork(last);
            outcome.tables(terminal, List.of(StageRun.comparison(runs), StageRun.shares(runs)));
            int code =
                    outcome.verdict(
                            terminal,
                            verdict,
                            flags.pool
                                    ? "Routing by caches found more in them, the pool yet more; all"
                                            + " engines worked."
                                    : "No prediction was wrong, routing by caches found more in them,"
                                            + " all engines worked.");
            outcome.page(terminal, runs, scratch.page(flags.html));
            if (!flags.once) {
                stayUp(stages);
            }
            return code;
        }
    }

    private List<String> about() {
        List<String> lines = new ArrayList<>();
        lines.add(
                "%d conversations of %d turns with one of %d assistants each (system prompts);"
                        .formatted(flags.conversations, flags.turns, flags.prompts));
        lines.add("every turn brings a page of new text. They begin by chance (Poisson), with");
        lines.add(
                "pauses between turns: %d turns, %d a second on average, seed %d."
                        .formatted(workload.turns(), flags.load, flags.seed));
        if (flags.pool) {
            lines.add(
                    "An engine's memory is too small for its conversations; what it gives up"
                            + " stays");
            lines.add(
                    "in a Mooncake pool, where there is one, and the gateway asks what is there.");
        } else {
            lines.add(
                    "No engine's GPU holds all of them; what the prompts share is worth finding.");
        }
        return lines;
    }

    private List<Stage.Setup> setups() throws IOException {
        List<String> kv = new ArrayList<>(List.of("--router-mode", "kv"));
        if (!flags.routerCost.isEmpty()) {
            kv.addAll(List.of("--router-cost", flags.routerCost));
        }
        Map<String, List<String>> modes = new LinkedHashMap<>();
        modes.put(TURNS, List.of("--router-mode", TURNS));
        modes.put(KV, kv);
        if (flags.pool) {
            List<String> pool = new ArrayList<>(kv);
            pool.addAll(POOL_FLAGS);
            if (flags.routerCost.equals("blocks")) {
                pool.addAll(POOL_WORTH);
            }
            modes.put(POOL, pool);
        }
        List<Integer> ports = SideBySide.freePorts(modes.size() - 1);
        List<Stage.Setup> setups = new ArrayList<>();
        modes.forEach(
                (name, mode) ->
                        setups.add(
                                setup(
                                        name,
                                        mode,
                                        setups.size() == modes.size() - 1
                                                ? flags.port
                                                : ports.get(setups.size()))));
        return setups;
    }

    private Stage.Setup setup(String name, List<String> mode, int port) {
        boolean pooled = name.equals(POOL);
        return new Stage.Setup(
                name,
                flags.engines,
                this::engine,
                pooled,
                port,
                List.of("--tokenizer", Stage.MODEL + "=" + scratch.tokenizer()),
                mode,
                pooled ? POOL_SETTINGS : Map.of(),
                scratch.log(name.replace(" + ", "-")));
    }

    private SimOptions.Builder engine(int number) {
        return SimOptions.builder()
                .models(List.of(Stage.MODEL))
                .wire(flags.wire)
                .blockSize(Stage.BLOCK_SIZE)
                .gpuBlocks(flags.gpuBlocks)
                .hostBlocks(flags.hostBlocks)
                .prefillTokensPerSecond(6_000)
                .hostLoadTokensPerSecond(60_000)
                .interToken(Duration.ofMillis(8))
                .seed(flags.seed + number);
    }

    /** The last stage's turns are shown as they go. */
    private List<StageRun> played(SideBySide stages) throws DemoFailure, InterruptedException {
        LiveTable table = new LiveTable(terminal, flags.pool);
        String shown = stages.stages().getLast().name();
        table.heading(shown, TURNS);
        Map<String, List<Played>> played = new ConcurrentHashMap<>();
        long begin = System.nanoTime();
        stages.each(
                stage -> {
                    Consumer<Played> done =
                            stage.name().equals(shown)
                                    ? table::shown
                                    : stage.name().equals(TURNS) ? table::compared : p -> {};
                    played.put(stage.name(), new Player(stage, workload, pace, done).play(begin));
                });
        terminal.say("");
        return stages.stages().stream()
                .map(
                        s ->
                                new StageRun(
                                        s.name(),
                                        flags.engines,
                                        played.getOrDefault(s.name(), List.of())))
                .toList();
    }

    private void judged(DemoVerdict verdict, StageRun run) {
        Predictions predictions =
                Predictions.of(run.turns(), c -> c % flags.prompts, !flags.pool && roomy(run));
        verdict.predicted(run, predictions);
        terminal.say(
                "%s: %d of %d predictions equal what the engine reported",
                run.name(), predictions.equal(), predictions.turns());
        if (!predictions.overtaken().isEmpty()) {
            terminal.say(
                    "  (and %d were overtaken by another prompt on the same engine)",
                    predictions.overtaken().size());
        }
    }

    /** An engine's host memory has room for all conversations: it never gives anything up. */
    private boolean roomy(StageRun run) {
        Map<Integer, Integer> longest = new HashMap<>();
        run.turns()
                .forEach(
                        p ->
                                longest.merge(
                                        p.turn().conversation(),
                                        p.promptTokens() + p.turn().maxTokens(),
                                        Math::max));
        int tokens = longest.values().stream().mapToInt(Integer::intValue).sum();
        return tokens + SideBySide.WARM_UP_TOKENS <= flags.hostBlocks * Stage.BLOCK_SIZE;
    }

    private void stayUp(SideBySide stages) throws InterruptedException {
        Stage last = stages.stages().getLast();
        stages.closeOthers(last);
        terminal.say("");
        terminal.say(
                "The gateway of %s stays up; Ctrl-C ends everything. Its engines:", last.name());
        last.engines().forEach(url -> terminal.say("  %s", url));
        terminal.say("Try:");
        terminal.say("");
        terminal.say(
                "  curl -i localhost:%d/v1/chat/completions \\%n"
                        + "    -H 'content-type: application/json' -H 'x-warmpath-explain: 1' \\%n"
                        + "    -d '{\"model\":\"%s\",\"stream\":true,\"messages\":[%n"
                        + "         {\"role\":\"user\",\"content\":\"Hello\"}]}'",
                flags.port, Stage.MODEL);
        terminal.say("");
        last.gateway().await();
        terminal.say("The gateway has ended; its last lines were:%n%s", last.gateway().tail());
    }
}
