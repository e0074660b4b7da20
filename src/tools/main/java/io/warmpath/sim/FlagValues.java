package io.warmpath.sim;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Flags of a command as they were given, read by their types; of several values the last counts.
 * What reads them throws {@link IllegalArgumentException} saying which is wrong and what it takes.
 *
 * @param given in their order; a flag without a value has an empty one
 * @param words what is no flag
 */
public record FlagValues(Map<String, List<String>> given, List<String> words) {
    private static final String HELP = "--help";
    private static final double MOST = Double.POSITIVE_INFINITY;
    private static final Pattern DURATION = Pattern.compile("(\\d+(?:\\.\\d+)?)(us|ms|s)");
    private static final Map<String, Double> NANOS = Map.of("us", 1e3, "ms", 1e6, "s", 1e9);

    /**
     * Reads {@code --flag value}, {@code --flag=value} and switches, up to {@code --help}.
     *
     * @param command for the message on a flag that is not known
     * @param help lists the flags, each between blanks; empty: what is known is seen later
     * @param switches those that take no value
     * @throws IllegalArgumentException for a flag that is not known, or without its value
     */
    public static FlagValues parse(
            String command, String help, Set<String> switches, List<String> args) {
        Map<String, List<String>> given = new LinkedHashMap<>();
        List<String> words = new ArrayList<>();
        for (int i = 0; i < args.size(); i++) {
            String arg = args.get(i);
            int equals = arg.startsWith("--") ? arg.indexOf('=') : -1;
            String flag = equals > 0 ? arg.substring(0, equals) : arg;
            if (flag.equals(HELP) || flag.equals("-h")) {
                given.put(HELP, List.of(""));
                break;
            }
            if (help.isEmpty() && !flag.startsWith("-")) {
                words.add(flag);
                continue;
            }
            if (!help.isEmpty() && !(flag.startsWith("--") && help.contains("  " + flag + " "))) {
                throw new IllegalArgumentException(
                        "unknown flag " + flag + "; " + command + " --help lists them");
            }
            String value = equals > 0 ? arg.substring(equals + 1) : "";
            if (switches.contains(flag)) {
                if (equals > 0) {
                    throw new IllegalArgumentException(flag + " takes no value");
                }
            } else if (equals < 0) {
                if (++i == args.size()) {
                    throw new IllegalArgumentException(flag + " needs a value");
                }
                value = args.get(i);
            }
            given.computeIfAbsent(flag, f -> new ArrayList<>()).add(value);
        }
        return new FlagValues(given, words);
    }

    public boolean has(String flag) {
        return given.containsKey(flag);
    }

    public boolean asksForHelp() {
        return has(HELP);
    }

    public String text(String flag, String otherwise) {
        List<String> values = given.get(flag);
        return values == null ? otherwise : values.getLast();
    }

    /** The first one where none is given. */
    String oneOf(String flag, String first, String second) {
        String value = text(flag, first);
        if (!value.equals(first) && !value.equals(second)) {
            throw bad(flag, value, first + " or " + second);
        }
        return value;
    }

    public int number(String flag, int otherwise, int least, int most) {
        String wanted = "a number from " + least + " to " + most;
        return this.<Integer>read(
                flag, otherwise, wanted, Integer::valueOf, n -> n >= least && n <= most);
    }

    long wide(String flag, long otherwise) {
        return this.<Long>read(flag, otherwise, "a whole number", Long::valueOf, n -> true);
    }

    /** Above 0. */
    double rate(String flag, double otherwise) {
        return this.<Double>read(
                flag, otherwise, "a number above 0", Double::valueOf, n -> n > 0 && n < MOST);
    }

    <N> N read(
            String flag,
            Object otherwise,
            String wanted,
            Function<String, N> of,
            Predicate<N> fits) {
        String value = text(flag, String.valueOf(otherwise));
        try {
            N number = of.apply(value);
            if (fits.test(number)) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw bad(flag, value, wanted);
        }
        throw bad(flag, value, wanted);
    }

    Duration duration(String flag, String otherwise) {
        String value = text(flag, otherwise);
        Matcher m = DURATION.matcher(value);
        if (!m.matches()) {
            throw bad(flag, value, "a duration such as 10ms, 500us or 1s");
        }
        double unit = NANOS.getOrDefault(m.group(2), 0.0);
        return Duration.ofNanos((long) (Double.parseDouble(m.group(1)) * unit));
    }

    private static IllegalArgumentException bad(String flag, String value, String wanted) {
        return new IllegalArgumentException(flag + " " + value + ": must be " + wanted);
    }
}
