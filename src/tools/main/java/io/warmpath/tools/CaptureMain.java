package io.warmpath.tools;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.adapter.nativeindex.NativeIndexException;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.capture.CaptureException;
import io.warmpath.capture.CaptureReplay;
import io.warmpath.capture.CaptureReport;
import io.warmpath.capture.CaptureRow;
import io.warmpath.capture.Cause;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import java.io.PrintStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The command {@code capture}: what the index predicts of a recorded engine, and what was so. */
public final class CaptureMain {
    private static final int OK = 0;
    private static final int UNEXPLAINED = 1;
    private static final int USAGE = 2;

    private static final String HELP =
            """
            Usage: ./warmpath capture [--index native|java] FILE...

            Replays recordings of an engine's KV events (JSON lines) through the event decoder and
            the prefix index, asks the index before each request how many prompt tokens are cached,
            and compares with what the engine reported.

            Per request: id, rank, prompt tokens, predicted and reported cached tokens, the
            prediction per tier (gpu+host+disk+external, in tokens), the cause of a difference, and
            what the request tried. A reported number with ~ is derived from the blocks that the
            engine stored, for engines that report none.

              --index native|java  index to use; default: native, java where it cannot be loaded
              --help               this text

            Exit code: 0 every difference has a cause, 1 some have none, 2 bad usage or file.
            """;

    private CaptureMain() {}

    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    /** Runs the command; returns its exit code. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        Optional<String> kind = Optional.empty();
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < args.length; i++) {
            String arg = args[i];
            if (arg.equals("--help") || arg.equals("-h")) {
                out.print(HELP);
                return OK;
            }
            if (arg.equals("--index") || arg.startsWith("--index=")) {
                boolean separate = arg.equals("--index");
                String value =
                        separate
                                ? (++i < args.length ? args[i] : "")
                                : arg.substring("--index=".length());
                if (!value.equals("native") && !value.equals("java")) {
                    err.println("--index is native or java, not \"" + value + "\"");
                    return USAGE;
                }
                kind = Optional.of(value);
            } else if (arg.startsWith("-")) {
                err.println("unknown option " + arg + "; see ./warmpath capture --help");
                return USAGE;
            } else {
                try {
                    files.add(Path.of(arg));
                } catch (InvalidPathException e) {
                    err.println("not a file name: " + e.getMessage());
                    return USAGE;
                }
            }
        }
        if (files.isEmpty()) {
            err.println("no file given; see ./warmpath capture --help");
            return USAGE;
        }
        return replay(files, kind, out, err);
    }

    private static int replay(
            List<Path> files, Optional<String> kind, PrintStream out, PrintStream err) {
        long equal = 0;
        long different = 0;
        Map<Cause, Integer> causes = new TreeMap<>();
        boolean java = kind.equals(Optional.of("java")) || (kind.isEmpty() && !nativeLoads(err));
        for (Path file : files) {
            try (PrefixIndex index = java ? new ReferencePrefixIndex() : nativeIndex()) {
                CaptureReport report = CaptureReplay.run(file, index).report();
                print(report, out);
                equal += report.equal();
                different += report.different();
                report.causes().forEach((c, n) -> causes.merge(c, n, Integer::sum));
            } catch (CaptureException | NativeIndexException e) {
                err.println(e.getMessage());
                return USAGE;
            }
        }
        causes.forEach((c, n) -> out.printf(Locale.ROOT, "%5d  %s%n", n, c.text()));
        out.printf(Locale.ROOT, "%d equal, %d different%n", equal, different);
        return causes.containsKey(Cause.UNEXPLAINED) ? UNEXPLAINED : OK;
    }

    private static boolean nativeLoads(PrintStream err) {
        try (PrefixIndex index = nativeIndex()) {
            return index.stats().slots() == 0;
        } catch (NativeIndexException e) {
            err.println("using the Java index: " + e.getMessage());
            return false;
        }
    }

    private static PrefixIndex nativeIndex() {
        return new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
    }

    private static void print(CaptureReport report, PrintStream out) {
        out.printf(Locale.ROOT, "%s  (%s)%n", report.file(), report.engine());
        out.println("id     rank prompt predicted reported  gpu+host+disk+ext     step, cause");
        for (CaptureRow row : report.rows()) {
            out.println(line(row));
        }
        out.printf(
                Locale.ROOT,
                "%s: %d equal, %d different, %d not comparable%n%n",
                report.file(),
                report.equal(),
                report.different(),
                report.skipped());
    }

    private static String line(CaptureRow row) {
        if (!row.comparable()) {
            return plain(
                    "%-6s %4s %6d %9s %8s  %-20s  %s: %s",
                    row.id(),
                    "-",
                    row.promptTokens(),
                    "-",
                    "-",
                    "",
                    row.step(),
                    row.skipped().orElseThrow());
        }
        int[] t = row.tiers();
        int gpu = Tier.GPU.number();
        int host = Tier.HOST.number();
        int disk = Tier.DISK.number();
        int external = Tier.EXTERNAL.number();
        return plain(
                "%-6s %4s %6d %9d %8s  %-20s  %s%s",
                row.id(),
                row.rank() < 0 ? "?" : row.rank(),
                row.promptTokens(),
                row.predicted(),
                (row.derived() ? "~" : "") + row.reported(),
                "%s+%s+%s+%s"
                        .formatted(
                                t[gpu], t[host] - t[gpu], t[disk] - t[host], t[external] - t[disk]),
                row.step(),
                row.cause() == null ? "" : "  <- " + row.cause().text());
    }
}
