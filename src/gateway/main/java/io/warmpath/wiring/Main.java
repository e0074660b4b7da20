package io.warmpath.wiring;

import io.quarkus.runtime.LaunchMode;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.wiring.relay.RelayMain;
import io.warmpath.wiring.settings.ExitCode;
import io.warmpath.wiring.warmup.Training;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Stream;

/** Entry of the jar: the first argument names the command. */
@QuarkusMain
public final class Main {
    static final String VERSION = "0.1.0";

    /** Of the source, where whoever started or built this says it. */
    private static final String COMMIT = System.getProperty("io.warmpath.commit", "unknown");

    private static final String HELP =
            """
            usage: warmpath COMMAND [FLAG...]

              serve      starts the gateway; serve --help lists its flags
              picker     the same for proxies that ask where to send requests (Envoy's ext_proc)
              relay      passes an engine's KV events on to NATS JetStream
              key        makes API keys of clients, and their hashes
              help       prints this
              --version  prints the version
            """;

    private Main() {}

    public static void main(String[] args) {
        ExecutableLibraries.use();
        int code = run(args, System.out, System.err);
        // Dev mode ends the application with each change, and starts the next one in this process.
        if (LaunchMode.current() != LaunchMode.DEVELOPMENT) {
            System.exit(code);
        }
    }

    /** Version, commit, ABI of the native index, and what runs it; one line. */
    static String version() {
        String kind =
                ExecutableLibraries.isExecutable()
                        ? "native executable"
                        : "JVM " + Runtime.version();
        return String.format(
                Locale.ROOT,
                "warmpath %s (commit %s, index ABI %d, %s)",
                VERSION,
                COMMIT,
                NativePrefixIndex.ABI_VERSION,
                kind);
    }

    private static String[] pickerFlags(String[] flags) {
        return Stream.concat(Stream.of("--endpoint-picker-only"), Stream.of(flags))
                .toArray(String[]::new);
    }

    /** Runs a command to its end; returns the exit code. */
    static int run(String[] args, PrintStream out, PrintStream err) {
        String command = args.length == 0 ? "help" : args[0];
        String[] rest = args.length == 0 ? args : Arrays.copyOfRange(args, 1, args.length);
        return switch (command) {
            case "serve" -> Serve.run(rest, out, err);
            case "picker" -> Serve.run(pickerFlags(rest), out, err);
            // Not in the help: the launcher's, to record what a start does.
            case "train" -> Training.run(flags -> Serve.run(flags, out, err), err);
            case "relay" -> RelayMain.run(rest, out, err);
            case "key" -> KeyMain.run(rest, System.in, out, err);
            case "help", "--help", "-h" -> {
                out.print(HELP);
                yield 0;
            }
            case "version", "--version" -> {
                out.println(version());
                yield 0;
            }
            default -> {
                err.println("warmpath: unknown command `" + command + "`; try `warmpath help`.");
                yield ExitCode.USAGE;
            }
        };
    }
}
