package io.warmpath.sim.demo;

import io.warmpath.sim.FlagValues;
import io.warmpath.sim.wire.WireFormat;
import java.util.List;
import java.util.Set;

/** The flags of {@code warmpath demo}. Immutable. */
final class DemoFlags {
    static final String HELP =
            """
            warmpath demo - simulated engines, gateways, and the same conversations over both

              --once              end after the comparison; exit code 0 only when every
                                  prediction held, kv found more in caches than round-robin,
                                  answered sooner, and all engines worked
              --port N            port of the gateway that stays up       (8000)
              --engines N         simulated engines of each fleet         (4)
              --conversations N   conversations                           (24)
              --turns N           turns of each conversation              (6)
              --prompts N         system prompts, taken in turn           (8)
              --load N            turns that start in a second, mean      (10)
              --router-cost COST  of the gateway in mode kv, as of serve  (serve's)
              --wire FORMAT       sglang-array, sglang-map, vllm-array
                                  or vllm-map                             (sglang-map)
              --gpu-blocks N      blocks of 16 tokens in GPU memory       (600)
              --host-blocks N     blocks in host memory, 0 = none         (8000)
              --pool              a third fleet, whose engines share a Mooncake pool that
                                  its gateway asks. Sets --gpu-blocks 320, --host-blocks 700,
                                  --prompts 4, --load 8 and --router-cost blocks unless they
                                  are given, so that engines give up pages, and conversations
                                  their engine, which the pool makes up for
              --agents            something else: lead agents and their sub-agents under
                                  background load, with and without each thing that the
                                  gateway does for agents. Ends by itself; with --once
                                  it plays only with none and with all of them
              --agent-turns N     turns of each lead agent                (4)
              --seed N            of the workload                         (1)
              --html FILE         the page with plots     (in a temporary folder)
              --help              this text

            Colour on a terminal only, and not when NO_COLOR is set.
            The gateway is started as `serve` of the jar that runs the demo, or by
            WARMPATH_SERVE_COMMAND when that is set.
            """;

    private static final Set<String> SWITCHES = Set.of("--once", "--pool", "--agents");

    final boolean help;
    final boolean once;
    final boolean pool;
    final boolean agents;
    final int agentTurns;
    final int port;
    final int engines;
    final int conversations;
    final int turns;
    final int prompts;
    final int load;
    final WireFormat wire;
    final int gpuBlocks;
    final int hostBlocks;
    final int seed;
    final String routerCost;
    final String html;

    private DemoFlags(FlagValues given) {
        help = given.asksForHelp();
        once = given.has("--once");
        pool = given.has("--pool");
        agents = given.has("--agents");
        agentTurns = given.number("--agent-turns", 4, 2, 100);
        port = given.number("--port", 8000, 1, 65_535);
        engines = given.number("--engines", 4, 2, 64);
        conversations = given.number("--conversations", 24, 1, 1000);
        turns = given.number("--turns", 6, 1, 100);
        prompts = given.number("--prompts", pool ? 4 : 8, 1, 1000);
        load = given.number("--load", pool ? 8 : 10, 1, 1000);
        wire = WireFormat.of(given.text("--wire", WireFormat.SGLANG_MAP.flag()));
        gpuBlocks = given.number("--gpu-blocks", pool ? 320 : 600, 200, 1_000_000);
        hostBlocks = given.number("--host-blocks", pool ? 700 : 8000, 0, 1_000_000);
        seed = given.number("--seed", 1, Integer.MIN_VALUE, Integer.MAX_VALUE);
        routerCost = given.text("--router-cost", pool ? "blocks" : "");
        html = given.text("--html", "");
    }

    /**
     * @throws IllegalArgumentException saying which flag is wrong and what it takes
     */
    static DemoFlags parse(String... args) {
        DemoFlags flags =
                new DemoFlags(FlagValues.parse("warmpath demo", HELP, SWITCHES, List.of(args)));
        if (flags.pool && (!flags.wire.sglang() || flags.hostBlocks == 0)) {
            throw new IllegalArgumentException(
                    "--pool needs one of SGLang's wire formats and --host-blocks above 0");
        }
        return flags;
    }
}
