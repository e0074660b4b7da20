package io.warmpath.tools;

import io.warmpath.audit.Audit;
import io.warmpath.audit.AuditException;
import io.warmpath.audit.AuditResult;
import io.warmpath.audit.Component;
import io.warmpath.audit.Ignored;
import io.warmpath.audit.OsvDatabase;
import java.io.PrintStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** The command {@code audit}: what the product is made of, against known vulnerabilities. */
public final class AuditMain {
    private static final int CLEAN = 0;
    private static final int FOUND = 1;
    private static final int USAGE = 2;

    private static final String HELP =
            """
            Usage: ./warmpath audit --osv PATH... [--sbom FILE...] [--ignore FILE] [--json]

            Compares what the product is made of with records of known vulnerabilities in the OSV
            format (schema of the OpenSSF), by package and version. Asks nobody: get the
            database first, such as the zip of the ecosystem Maven of a public OSV database.

              --osv PATH     records: a file of one or of an array of them, a folder, or a zip;
                             several times for several
              --sbom FILE    list of components (CycloneDX, JSON), such as an image's /app/sbom/*;
                             default: those of this source, made anew when it has changed
              --ignore FILE  what is let be for a time, a JSON array:
                             [{"id": "CVE-...", "reason": "...", "until": "2027-01-31"}]
                             after its day it counts again
              --json         one JSON object in place of text

            Components that are no packages of Maven, and records that name commits only, cannot be
            compared and are listed.

            Exit code: 0 nothing found, 1 something found, 2 bad usage, or a file that cannot be
            used; a database without a record of Maven's packages is one.
            """;

    private AuditMain() {}

    /** Runs the command; returns its exit code. */
    public static int run(String[] args, LocalDate today, PrintStream out, PrintStream err) {
        List<Path> databases = new ArrayList<>();
        List<Path> lists = new ArrayList<>();
        List<Path> ignored = new ArrayList<>();
        boolean json = false;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--help", "-h" -> {
                    out.print(HELP);
                    return CLEAN;
                }
                case "--json" -> json = true;
                case "--osv", "--sbom", "--ignore" -> {
                    String flag = args[i++];
                    if (i == args.length) {
                        return usage(flag + " needs a path", err);
                    }
                    try {
                        (switch (flag) {
                                    case "--osv" -> databases;
                                    case "--sbom" -> lists;
                                    default -> ignored;
                                })
                                .add(Path.of(args[i]));
                    } catch (InvalidPathException e) {
                        return usage("not a file name: " + e.getMessage(), err);
                    }
                }
                default -> {
                    return usage("unknown argument " + args[i], err);
                }
            }
        }
        if (databases.isEmpty() || lists.isEmpty() || ignored.size() > 1) {
            return usage("wants --osv and --sbom, and --ignore once at most", err);
        }
        try {
            AuditResult result = audit(databases, lists, ignored, today);
            out.print(json ? result.json().toPrettyString() + "\n" : result.text());
            return result.findings().isEmpty() ? CLEAN : FOUND;
        } catch (AuditException e) {
            err.println(e.getMessage());
            return USAGE;
        }
    }

    private static AuditResult audit(
            List<Path> databases, List<Path> lists, List<Path> ignored, LocalDate today)
            throws AuditException {
        List<Component> components = new ArrayList<>();
        for (Path list : lists) {
            components.addAll(Component.read(list));
        }
        Ignored let =
                ignored.isEmpty() ? Ignored.nothing() : Ignored.read(ignored.getFirst(), today);
        Audit audit = new Audit(components);
        for (Path database : databases) {
            OsvDatabase.read(database, audit::take);
        }
        return audit.result(let);
    }

    private static int usage(String what, PrintStream err) {
        err.println(what + "; see ./warmpath audit --help");
        return USAGE;
    }
}
