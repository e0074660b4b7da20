package io.warmpath.tools;

import io.warmpath.cli.CliMain;
import io.warmpath.cli.Surroundings;
import io.warmpath.lab.LabMain;
import io.warmpath.sim.SimMain;
import io.warmpath.sim.demo.DemoMain;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;

/** Entry of the tools' jar: the first argument names the command. */
public final class ToolsMain {
    static final int USAGE = 2;

    private static final String HELP =
            """
            usage: warmpath-tools COMMAND [FLAG...]

              sim        starts simulated engines
              demo       plays a workload over simulated engines and the gateway
              capture    replays recorded engine events and compares predictions with reports
              render     renders chats with their templates, for who debugs a prompt
              lab        plays workloads against routing policies in virtual time
              status     says on one screen how a gateway does
              top        shows its workers and decisions, live
              why        tells why a request went where it went
              drain      takes a worker out of choice
              resume     gives it requests again
              ask        tells where a prompt would go
              audit      compares what the product is made of with known vulnerabilities
              help       prints this
            """;

    private ToolsMain() {}

    public static void main(String[] args) {
        System.exit(run(args, System.in, System.out, System.err));
    }

    /** Runs a command to its end; returns the exit code. */
    public static int run(String[] args, InputStream in, PrintStream out, PrintStream err) {
        String command = args.length == 0 ? "help" : args[0];
        String[] rest = args.length == 0 ? args : Arrays.copyOfRange(args, 1, args.length);
        return switch (command) {
            case "sim" -> SimMain.run(rest, out, err);
            case "demo" -> DemoMain.run(rest, out, err);
            case "capture" -> CaptureMain.run(rest, out, err);
            case "render" -> RenderMain.run(rest, in, out, err);
            case "audit" -> AuditMain.run(rest, LocalDate.now(ZoneOffset.UTC), out, err);
            case "status", "top", "why", "drain", "resume", "ask" ->
                    CliMain.run(command, rest, Surroundings.ofProcess(in, out, err));
            case "lab" -> LabMain.run(rest, new LabIndexes(), out, err);
            case "help", "--help", "-h" -> {
                out.print(HELP);
                yield 0;
            }
            default -> {
                err.println(
                        "warmpath-tools: unknown command `"
                                + command
                                + "`; try `warmpath-tools help`.");
                yield USAGE;
            }
        };
    }
}
