package io.warmpath.sim.demo;

import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.io.PrintStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * {@code warmpath demo}: plays one workload through the gateway in kv mode and, on fresh engines,
 * in round-robin mode, and compares.
 */
public final class DemoMain {
    private DemoMain() {}

    /**
     * @return 0 when everything went as predicted; 1 when it did not or something broke; 2 for
     *     wrong flags
     */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        DemoFlags flags;
        try {
            flags = DemoFlags.parse(args);
        } catch (IllegalArgumentException e) {
            err.println("warmpath demo: " + e.getMessage());
            return 2;
        }
        if (flags.help) {
            out.print(DemoFlags.HELP);
            return 0;
        }
        try {
            Scratch scratch = Scratch.create();
            try (SimTokenizer tokenizer = SimTokenizer.load(scratch.tokenizer())) {
                if (flags.agents) {
                    return new AgentDemo(flags, tokenizer, scratch, new DemoPrinter(out)).play();
                }
                return play(flags, scratch, tokenizer, new DemoPrinter(out));
            }
        } catch (DemoFailure | IOException e) {
            err.println("warmpath demo: " + e.getMessage());
            return 1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        }
    }

    private static int play(
            DemoFlags flags, Scratch scratch, SimTokenizer tokenizer, DemoPrinter printer)
            throws DemoFailure, IOException, InterruptedException {
        Workload workload = new Workload(flags.conversations, flags.turns, flags.seed);
        printer.say(
                "Starting %d simulated engines (%s) and the gateway on port %d ...",
                flags.engines, flags.wire.flag(), flags.port);
        try (Stage kv =
                new Stage(
                        flags,
                        flags.port,
                        "kv",
                        false,
                        tokenizer,
                        scratch.tokenizer(),
                        scratch.log("kv"))) {
            for (int i = 0; i < kv.engines().size(); i++) {
                printer.say("  engine %d is %s", i, kv.engines().get(i).url());
            }
            printer.say(
                    "%d conversations of %d turns over one system prompt, routed by cached prefix:",
                    flags.conversations, flags.turns);
            printer.heading();
            List<Played> kvRun = played(kv, workload, flags.inFlight, printer::turn);
            Map<String, List<Played>> runs = new LinkedHashMap<>();
            printer.say("");
            printer.say("The same workload on fresh engines, round-robin ...");
            runs.put(
                    "round-robin",
                    again(flags, scratch, tokenizer, workload, "round-robin", false));
            runs.put("kv", kvRun);
            if (flags.pool) {
                printer.say("The same workload on fresh engines that share a pool, kv ...");
                runs.put("kv, pool", again(flags, scratch, tokenizer, workload, "kv", true));
            }
            List<Score> scores = runs.values().stream().map(Score::of).toList();
            printer.comparison(List.copyOf(runs.keySet()), scores);
            printer.say("");
            runs.forEach(printer::differences);
            boolean better = true;
            List<String> names = List.copyOf(runs.keySet());
            for (int i = 1; i < scores.size(); i++) {
                if (scores.get(i).hitRate() <= scores.get(i - 1).hitRate()) {
                    better = false;
                    printer.say(
                            "%s did not find more in the caches than %s.",
                            names.get(i), names.get(i - 1));
                }
            }
            boolean good = better && scores.stream().allMatch(s -> s.asPredicted() == s.turns());
            printer.say(
                    good
                            ? "Every prediction equalled what the engine reported."
                            : "Not everything went as predicted.");
            if (!flags.once) {
                stayUp(kv, flags, printer);
            }
            return good ? 0 : 1;
        }
    }

    /** Another run, on engines and a gateway of its own. */
    private static List<Played> again(
            DemoFlags flags,
            Scratch scratch,
            SimTokenizer tokenizer,
            Workload workload,
            String mode,
            boolean pooled)
            throws DemoFailure, IOException, InterruptedException {
        try (Stage stage =
                new Stage(
                        flags,
                        freePort(),
                        mode,
                        pooled,
                        tokenizer,
                        scratch.tokenizer(),
                        scratch.log(pooled ? mode + "-pool" : mode))) {
            return played(stage, workload, flags.inFlight, p -> {});
        }
    }

    private static List<Played> played(
            Stage stage, Workload workload, int inFlight, Consumer<Played> done)
            throws DemoFailure, InterruptedException {
        Player player = new Player(stage, workload, inFlight);
        player.warmUp();
        return player.play(done);
    }

    private static void stayUp(Stage kv, DemoFlags flags, DemoPrinter printer)
            throws InterruptedException {
        printer.say("");
        printer.say("The gateway stays up; Ctrl-C ends everything. Try:");
        printer.say("");
        printer.say(
                "  curl -i localhost:%d/v1/chat/completions -H 'content-type: application/json'"
                        + " \\%n    -H 'x-warmpath-explain: 1' \\%n    -d"
                        + " '{\"model\":\"%s\",\"stream\":true,\"messages\":[{\"role\":\"user\","
                        + "\"content\":\"Hello\"}]}'",
                flags.port, Stage.MODEL);
        printer.say("");
        kv.gateway().await();
        printer.say("The gateway has ended; its last lines were:%n%s", kv.gateway().tail());
    }

    /**
     * A free port below the range from which the system takes ports by itself: one of that range
     * may go to a connection before the gateway binds it.
     */
    private static int freePort() throws IOException {
        int first = 20_000 + (int) Math.floorMod(ProcessHandle.current().pid(), 10_000L);
        IOException last = new IOException("no port tried");
        for (int port = first; port < first + 1_000; port++) {
            try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return probe.getLocalPort();
            } catch (BindException taken) {
                last = taken;
            }
        }
        throw new IOException("no free port from " + first + " to " + (first + 999), last);
    }
}
