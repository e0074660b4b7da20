package io.warmpath.sim.demo;

import io.warmpath.sim.SimOptions;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** {@code warmpath demo --agents}: the agents' workload with and without each feature. */
final class AgentDemo {
    private static final int TEAMS = 3;
    private static final int SUB_TURNS = 3;
    private static final int ENGINES = 2;
    private static final int GPU_BLOCKS = 320;

    private final DemoFlags flags;
    private final SimTokenizer tokenizer;
    private final Scratch scratch;
    private final DemoPrinter printer;

    AgentDemo(DemoFlags flags, SimTokenizer tokenizer, Scratch scratch, DemoPrinter printer) {
        this.flags = flags;
        this.tokenizer = tokenizer;
        this.scratch = scratch;
        this.printer = printer;
    }

    /**
     * @return 0; 1 when all features together did not make engines find more in their caches. What
     *     goes wrong is thrown
     */
    int play() throws DemoFailure, IOException, InterruptedException {
        Path model = model();
        AgentScript script = new AgentScript(TEAMS, flags.agentTurns, SUB_TURNS, flags.seed);
        printer.say(
                "%d lead agents of %d turns, each turn with a sub-agent of %d turns, and background"
                        + " requests, on %d simulated engines:",
                TEAMS, flags.agentTurns, SUB_TURNS, ENGINES);
        List<String> names = new ArrayList<>();
        List<AgentScore> scores = new ArrayList<>();
        for (Set<AgentFeature> features : AgentFeature.runs(flags.once)) {
            String name = AgentFeature.title(features);
            printer.say("  playing with %s ...", name);
            try (Stage stage = stage(features, model, name)) {
                new Player(stage, new Workload(1, 1, 1), 1).warmUp();
                scores.add(
                        AgentScore.of(
                                new AgentPlay(stage, script, features).play(), flags.agentTurns));
                names.add(name);
            } catch (DemoFailure e) {
                throw new DemoFailure("with " + name + ": " + e.getMessage(), e);
            }
        }
        printer.agents(names, scores);
        printer.say("");
        boolean better = scores.getLast().cached() > scores.getFirst().cached();
        printer.say(
                better
                        ? "With all of them the engines found more of the agents' prompts cached."
                        : "With all of them the engines found NO more of the agents' prompts"
                                + " cached.");
        return better ? 0 : 1;
    }

    private Stage stage(Set<AgentFeature> features, Path model, String name)
            throws DemoFailure, InterruptedException {
        return new Stage(
                ENGINES,
                null,
                (i, pool) ->
                        SimOptions.builder()
                                .models(List.of(Stage.MODEL))
                                .blockSize(Stage.BLOCK_SIZE)
                                .gpuBlocks(GPU_BLOCKS)
                                .hostBlocks(GPU_BLOCKS)
                                .prefillTokensPerSecond(6_000)
                                .hostLoadTokensPerSecond(60_000)
                                .interToken(Duration.ofMillis(3))
                                .chats(AgentTemplate::text)
                                .agents(AgentFeature.engines(features))
                                .seed(flags.seed + i)
                                .build(),
                tokenizer,
                new Stage.GatewaySetup(
                        flags.port,
                        "kv",
                        List.of("--config", model.toString()),
                        AgentFeature.gateway(features),
                        scratch.log(name.replace(' ', '-'))));
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
