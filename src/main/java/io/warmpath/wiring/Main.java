package io.warmpath.wiring;

import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.Map;

/** Entry of the jar: the first argument names the command. */
@QuarkusMain
public final class Main {
    static final String VERSION = "0.1.0";

    /** Plain commands, each with {@code static int run(String[], PrintStream, PrintStream)}. */
    private static final Map<String, String> COMMANDS =
            Map.of(
                    "sim", "io.warmpath.sim.SimMain",
                    "demo", "io.warmpath.sim.demo.DemoMain",
                    "capture", "io.warmpath.wiring.CaptureMain");

    private static final String HELP =
            """
            usage: warmpath COMMAND [FLAG...]

              serve      starts the gateway; serve --help lists its flags
              sim        starts a simulated engine
              demo       plays a workload over simulated engines and the gateway
              capture    replays recorded engine events and compares predictions with reports
              help       prints this
              --version  prints the version
            """;

    private Main() {}

    public static void main(String[] args) {
        int code = run(args, System.out, System.err);
        System.exit(code);
    }

    /** Runs a command to its end; returns the exit code. */
    static int run(String[] args, PrintStream out, PrintStream err) {
        String command = args.length == 0 ? "help" : args[0];
        String[] rest = args.length == 0 ? args : Arrays.copyOfRange(args, 1, args.length);
        return switch (command) {
            case "serve" -> Serve.run(rest, out, err);
            case "sim", "demo", "capture" -> plain(command, rest, out, err);
            case "help", "--help", "-h" -> {
                out.print(HELP);
                yield 0;
            }
            case "version", "--version" -> {
                out.println("warmpath " + VERSION);
                yield 0;
            }
            default -> {
                err.println("warmpath: unknown command `" + command + "`; try `warmpath help`.");
                yield Serve.USAGE;
            }
        };
    }

    private static int plain(String command, String[] args, PrintStream out, PrintStream err) {
        String type = COMMANDS.get(command);
        try {
            Object code =
                    Class.forName(type)
                            .getMethod("run", String[].class, PrintStream.class, PrintStream.class)
                            .invoke(null, args, out, err);
            return (Integer) code;
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(command + " failed", e.getCause());
        } catch (ReflectiveOperationException e) {
            err.println("warmpath: the command " + command + " is not part of this build.");
            return Serve.FAILED;
        }
    }
}
