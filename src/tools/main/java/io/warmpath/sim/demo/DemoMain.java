package io.warmpath.sim.demo;

import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.io.PrintStream;

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
            DemoFiles scratch = DemoFiles.create();
            try (SimTokenizer tokenizer = SimTokenizer.load(scratch.tokenizer())) {
                if (flags.agents) {
                    return new AgentDemo(flags, tokenizer, scratch, Terminal.of(out)).play();
                }
                return new ChatDemo(flags, tokenizer, scratch, Terminal.of(out)).play();
            }
        } catch (DemoFailure | IOException e) {
            err.println("warmpath demo: " + e.getMessage());
            return 1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        }
    }
}
