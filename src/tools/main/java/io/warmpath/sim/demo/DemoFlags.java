package io.warmpath.sim.demo;

import io.warmpath.sim.wire.WireFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/** The flags of {@code warmpath demo}. Mutable while they are parsed, then only read. */
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

    boolean help;
    boolean once;
    boolean pool;
    boolean agents;
    int agentTurns = 4;
    int port = 8000;
    int engines = 4;
    int conversations = 24;
    int turns = 6;
    int prompts = 8;
    int load = 10;
    WireFormat wire = WireFormat.SGLANG_MAP;
    int gpuBlocks = 600;
    int hostBlocks = 8000;
    int seed = 1;
    String routerCost = "";
    String html = "";

    private DemoFlags() {}

    /**
     * @throws IllegalArgumentException saying which flag is wrong and what it takes
     */
    static DemoFlags parse(String... args) {
        DemoFlags flags = new DemoFlags();
        Map<String, IntConsumer> numbers =
                Map.of(
                        "--port", n -> flags.port = within("--port", n, 1, 65_535),
                        "--engines", n -> flags.engines = within("--engines", n, 2, 64),
                        "--conversations",
                                n -> flags.conversations = within("--conversations", n, 1, 1000),
                        "--turns", n -> flags.turns = within("--turns", n, 1, 100),
                        "--load", n -> flags.load = within("--load", n, 1, 1000),
                        "--prompts", n -> flags.prompts = within("--prompts", n, 1, 1000),
                        "--gpu-blocks",
                                n -> flags.gpuBlocks = within("--gpu-blocks", n, 200, 1_000_000),
                        "--host-blocks",
                                n -> flags.hostBlocks = within("--host-blocks", n, 0, 1_000_000),
                        "--agent-turns", n -> flags.agentTurns = within("--agent-turns", n, 2, 100),
                        "--seed", n -> flags.seed = n);
        Map<String, Consumer<String>> texts =
                Map.of(
                        "--wire", v -> flags.wire = WireFormat.of(v),
                        "--router-cost", v -> flags.routerCost = v,
                        "--html", v -> flags.html = v);
        if (List.of(args).contains("--pool")) {
            flags.gpuBlocks = 320;
            flags.hostBlocks = 700;
            flags.load = 8;
            flags.prompts = 4;
            flags.routerCost = "blocks";
        }
        for (int i = 0; i < args.length; i++) {
            String flag = args[i];
            String value = null;
            int equals = flag.indexOf('=');
            if (flag.startsWith("--") && equals > 0) {
                value = flag.substring(equals + 1);
                flag = flag.substring(0, equals);
            }
            switch (flag) {
                case "--help", "-h" -> flags.help = true;
                case "--once" -> flags.once = true;
                case "--pool" -> flags.pool = true;
                case "--agents" -> flags.agents = true;
                default -> {
                    IntConsumer number = numbers.get(flag);
                    Consumer<String> text = texts.get(flag);
                    if (number == null && text == null) {
                        throw new IllegalArgumentException(
                                "unknown flag " + flag + "; warmpath demo --help lists them");
                    }
                    if (value == null) {
                        if (++i == args.length) {
                            throw new IllegalArgumentException(flag + " needs a value");
                        }
                        value = args[i];
                    }
                    if (text != null) {
                        text.accept(value);
                    } else if (number != null) {
                        number.accept(parsed(flag, value));
                    }
                }
            }
        }
        if (flags.pool && (!flags.wire.sglang() || flags.hostBlocks == 0)) {
            throw new IllegalArgumentException(
                    "--pool needs one of SGLang's wire formats and --host-blocks above 0");
        }
        return flags;
    }

    private static int parsed(String flag, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(flag + " " + value + ": must be a number", e);
        }
    }

    private static int within(String flag, int n, int least, int most) {
        if (n < least || n > most) {
            throw new IllegalArgumentException(
                    flag + " " + n + ": must be a number from " + least + " to " + most);
        }
        return n;
    }
}
