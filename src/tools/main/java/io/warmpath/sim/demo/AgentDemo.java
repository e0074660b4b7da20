package io.warmpath.sim.demo;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.sim.SimOptions;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * {@code warmpath demo --agents}: the agents' workload with round-robin, and in mode kv with and
 * without each feature.
 */
final class AgentDemo {
    private static final int TEAMS = 3;
    private static final int SUB_TURNS = 3;
    private static final int ENGINES = 2;
    private static final int GPU_BLOCKS = 320;

    /** Fleets that are played side by side. */
    private static final int GROUP = 4;

    private static final String TURNS = "round-robin";

    /** One play. */
    private record Play(String name, String mode, Set<AgentFeature> features) {}

    private final DemoFlags flags;
    private final SimTokenizer tokenizer;
    private final DemoFiles scratch;
    private final Terminal terminal;
    private final AgentScript script;
    private final DemoClock pace = new DemoClock();

    AgentDemo(DemoFlags flags, SimTokenizer tokenizer, DemoFiles scratch, Terminal terminal) {
        this.flags = flags;
        this.tokenizer = tokenizer;
        this.scratch = scratch;
        this.terminal = terminal;
        this.script = new AgentScript(TEAMS, flags.agentTurns, SUB_TURNS, flags.seed);
    }

    /** Returns 0; 1 when all features together gained nothing. What goes wrong is thrown. */
    int play() throws DemoFailure, IOException, InterruptedException {
        List<Play> plays = plays();
        Path model = model();
        Outcome outcome = new Outcome("Warmpath demo, agents");
        List<Integer> ports = SideBySide.freePorts(plays.size());
        List<Stage.Setup> setups = new ArrayList<>();
        for (Play play : plays) {
            setups.add(setup(play, model, ports.get(setups.size())));
        }
        outcome.about(terminal, about(), setups);
        List<AgentScore> scores = new ArrayList<>();
        for (int from = 0; from < plays.size(); from += GROUP) {
            int to = Math.min(plays.size(), from + GROUP);
            scores.addAll(played(plays.subList(from, to), setups.subList(from, to)));
        }
        List<StageRun> later = scores.stream().map(AgentScore::later).toList();
        List<StageRun> all = scores.stream().map(AgentScore::all).toList();
        terminal.say("");
        terminal.say(
                "Agents' turns from the second on (%d of each play):",
                later.getFirst().turns().size());
        outcome.tables(
                terminal, List.of(StageRun.comparison(later), leads(scores), StageRun.shares(all)));
        DemoVerdict verdict = new DemoVerdict(pace);
        verdict.gains(later.getLast(), later.getFirst());
        verdict.gains(later.getLast(), later.get(1));
        verdict.allEnginesWork(all.getLast());
        int code =
                outcome.verdict(
                        terminal,
                        verdict,
                        "With all features the engines found more of the agents' prompts cached;"
                                + " all engines worked.");
        outcome.page(terminal, all, scratch.page(flags.html));
        return code;
    }

    private List<Play> plays() {
        List<Play> plays = new ArrayList<>();
        for (Set<AgentFeature> features : AgentFeature.runs(flags.once)) {
            plays.add(new Play(AgentFeature.title(features), "kv", features));
        }
        plays.add(0, new Play(TURNS, TURNS, Set.of()));
        return plays;
    }

    private List<String> about() {
        return List.of(
                "%d lead agents read long documents and call a sub-agent after each turn;"
                        .formatted(TEAMS),
                "%d turns together. Others' requests come by chance (Poisson) and push out"
                        .formatted(script.turns()),
                "of the caches what nobody protects. Seed %d. Engines have what the features"
                        .formatted(flags.seed),
                "of their fleet need.");
    }

    private List<AgentScore> played(List<Play> plays, List<Stage.Setup> setups)
            throws DemoFailure, InterruptedException {
        Map<String, List<AgentPlay.Turn>> turns = new ConcurrentHashMap<>();
        try (SideBySide stages = SideBySide.start(setups, tokenizer, terminal)) {
            Terminal.Progress progress =
                    terminal.progress("playing, agents' turns", script.turns() * plays.size());
            stages.each(
                    stage -> {
                        Set<AgentFeature> features =
                                plays.stream()
                                        .filter(p -> p.name().equals(stage.name()))
                                        .findFirst()
                                        .orElseThrow()
                                        .features();
                        turns.put(
                                stage.name(),
                                new AgentPlay(stage, script, features, pace, progress::step)
                                        .play());
                    });
        }
        return plays.stream()
                .map(
                        p ->
                                AgentScore.of(
                                        p.name(),
                                        ENGINES,
                                        turns.getOrDefault(p.name(), List.of()),
                                        flags.agentTurns))
                .toList();
    }

    /** The leads' times turn by turn, and what all of it costs the others. */
    private static DemoTable leads(List<AgentScore> scores) {
        List<String> head = new ArrayList<>(List.of("median of a lead's turn"));
        for (int n = 1; n <= scores.getFirst().lead().size(); n++) {
            head.add(plain("%d", n));
        }
        head.add("others");
        List<List<String>> rows = new ArrayList<>();
        for (AgentScore score : scores) {
            List<String> row = new ArrayList<>(List.of(score.all().name()));
            score.lead().forEach(d -> row.add(StageRun.millis(d)));
            row.add(StageRun.millis(score.others()));
            rows.add(row);
        }
        return new DemoTable(head, rows);
    }

    private Stage.Setup setup(Play play, Path model, int port) {
        return new Stage.Setup(
                play.name(),
                ENGINES,
                i ->
                        SimOptions.builder()
                                .models(List.of(Stage.MODEL))
                                .blockSize(Stage.BLOCK_SIZE)
                                .gpuBlocks(GPU_BLOCKS)
                                .hostBlocks(GPU_BLOCKS)
                                .prefillTokensPerSecond(6_000)
                                .hostLoadTokensPerSecond(60_000)
                                .interToken(Duration.ofMillis(3))
                                .chats(AgentTemplate::text)
                                .agents(AgentFeature.engines(play.features()))
                                .seed(flags.seed + i),
                false,
                port,
                List.of("--config", model.toString()),
                List.of("--router-mode", play.mode()),
                AgentFeature.gateway(play.features()),
                scratch.log(play.name().replace(' ', '-')));
    }

    /** The gateway's settings of the model, with its template. */
    private Path model() throws IOException {
        Path template = scratch.file("thinking.jinja");
        Files.writeString(template, AgentTemplate.JINJA);
        Path settings = scratch.file("agents.yaml");
        Files.writeString(
                settings,
                "warmpath:\n  models:\n    \""
                        + Stage.MODEL
                        + "\":\n      tokenizer: \""
                        + scratch.tokenizer()
                        + "\"\n      chat-template: \""
                        + template
                        + "\"\n");
        return settings;
    }
}
