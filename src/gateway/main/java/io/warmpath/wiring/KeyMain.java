package io.warmpath.wiring;

import io.warmpath.access.KeyHash;
import io.warmpath.wiring.settings.ExitCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.random.RandomGenerator;

/** The command {@code key}: makes API keys of clients, and their hashes for the file. */
final class KeyMain {
    private static final int SECRET_BYTES = 32;

    /** Fewer characters could be guessed from their hash. */
    private static final int MIN_LENGTH = 32;

    private static final String HELP =
            """
            usage: warmpath key new [NAME]
                   warmpath key hash [NAME] < FILE_WITH_THE_KEY

              new   makes a key of 256 random bits; prints the key, and the record for the gateway
              hash  prints the record of an existing key, read from standard input

            The gateway keeps hashes only: `new` shows the key once.
            src/docs/how-to/security.md says what else a record may have.
            """;

    private KeyMain() {}

    static int run(String[] args, InputStream in, PrintStream out, PrintStream err) {
        return run(args, in, out, err, new SecureRandom());
    }

    static int run(
            String[] args,
            InputStream in,
            PrintStream out,
            PrintStream err,
            RandomGenerator random) {
        List<String> list = List.of(args);
        if (list.isEmpty() || list.contains("--help") || list.contains("-h")) {
            (list.isEmpty() ? err : out).print(HELP);
            return list.isEmpty() ? ExitCode.USAGE : 0;
        }
        String name = list.size() > 1 ? list.get(1) : "NAME";
        if (list.size() > 2 || !name.matches("[A-Za-z0-9._@/-]{1,128}")) {
            err.println("warmpath key: a name has letters, digits and . _ @ / - only.");
            return ExitCode.USAGE;
        }
        switch (list.getFirst()) {
            case "new" -> {
                byte[] secret = new byte[SECRET_BYTES];
                random.nextBytes(secret);
                String key = "wp-" + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
                out.println("key: " + key);
                print(name, key, out);
                return 0;
            }
            case "hash" -> {
                return hash(name, in, out, err);
            }
            default -> {
                err.println("warmpath key: `" + list.getFirst() + "` is neither new nor hash.");
                return ExitCode.USAGE;
            }
        }
    }

    private static int hash(String name, InputStream in, PrintStream out, PrintStream err) {
        String key;
        try {
            String line =
                    new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))
                            .readLine();
            key = line == null ? "" : line.strip();
        } catch (IOException e) {
            err.println("warmpath key: standard input cannot be read.");
            return ExitCode.FAILED;
        }
        if (key.length() < MIN_LENGTH) {
            err.println(
                    "warmpath key: a key needs "
                            + MIN_LENGTH
                            + " random characters or more, or its hash gives it away; make one with"
                            + " `warmpath key new`.");
            return ExitCode.USAGE;
        }
        print(name, key, out);
        return 0;
    }

    private static void print(String name, String key, PrintStream out) {
        String hex = KeyHash.of(key).hex();
        out.println("for the file of --api-key-file, below `keys:`:");
        out.println("  - name: \"" + name + "\"");
        out.println("    sha256: " + hex);
        out.println("or for the environment: WARMPATH_AUTH_KEYS=" + name + ":" + hex);
    }
}
