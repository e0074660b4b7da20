package io.warmpath.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Flags and words of one command. Immutable. */
final class Arguments {
    static final String URL = "--url";
    static final String TOKEN_FILE = "--token-file";
    static final String JSON = "--json";
    static final String HELP = "--help";

    private final Map<String, String> flags;
    private final List<String> words;

    private Arguments(Map<String, String> flags, List<String> words) {
        this.flags = flags;
        this.words = words;
    }

    /**
     * @param switches flags of the command that have no value
     * @param valued those that have one
     * @throws Trouble for any other flag, and for one without its value
     */
    static Arguments parse(String[] args, Set<String> switches, Set<String> valued) throws Trouble {
        Map<String, String> flags = new HashMap<>();
        List<String> words = new ArrayList<>();
        for (int i = 0; i < args.length; i++) {
            int eq = args[i].indexOf('=');
            boolean inline = args[i].startsWith("--") && eq > 0;
            String flag = inline ? args[i].substring(0, eq) : args[i];
            if (!flag.startsWith("-") || flag.equals("-")) {
                words.add(args[i]);
            } else if (flag.equals("-h")) {
                flags.put(HELP, "");
            } else if (flag.equals(JSON) || flag.equals(HELP) || switches.contains(flag)) {
                if (inline) {
                    throw Trouble.usage(flag + " takes no value");
                }
                flags.put(flag, "");
            } else if (flag.equals(URL) || flag.equals(TOKEN_FILE) || valued.contains(flag)) {
                if (!inline && ++i == args.length) {
                    throw Trouble.usage(flag + " needs a value");
                }
                flags.put(flag, inline ? args[i].substring(eq + 1) : args[i]);
            } else {
                throw Trouble.usage("unknown flag " + flag);
            }
        }
        return new Arguments(flags, List.copyOf(words));
    }

    boolean has(String flag) {
        return flags.containsKey(flag);
    }

    Optional<String> value(String flag) {
        return Optional.ofNullable(flags.get(flag));
    }

    List<String> words() {
        return words;
    }
}
