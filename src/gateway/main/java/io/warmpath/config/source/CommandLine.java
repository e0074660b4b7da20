package io.warmpath.config.source;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Flags of {@code serve} to configuration properties. Immutable. {@code --flag value} and {@code
 * --flag=value}; a boolean flag alone means true, its off flag false. A flag given twice: the last
 * wins, except for lists, which grow.
 */
public final class CommandLine {
    private static final String WORKERS = "warmpath.worker-urls";
    private static final String TOKENIZERS = "warmpath.tokens.tokenizers.*";
    private static final String DEFAULT_TOKENIZER = "warmpath.tokens.default-tokenizer";

    private final Map<String, SettingKey> byFlag = new LinkedHashMap<>();
    private final Map<String, SettingKey> byOffFlag = new LinkedHashMap<>();

    public CommandLine(SettingCatalog catalog) {
        for (SettingKey key : catalog.keys()) {
            for (String flag : key.setting().flags()) {
                putOnce(byFlag, flag, key);
            }
            for (String flag : key.setting().offFlags()) {
                putOnce(byOffFlag, flag, key);
            }
        }
    }

    private static void putOnce(Map<String, SettingKey> map, String flag, SettingKey key) {
        SettingKey other = map.put(flag, key);
        if (other != null) {
            throw new IllegalStateException(
                    flag + " belongs to both " + other.name() + " and " + key.name());
        }
    }

    /**
     * What the arguments ask for help on, wherever they do so: the word behind {@code --help}, the
     * empty one when there is none. Empty when they do not ask.
     */
    public static Optional<String> helpTopic(List<String> args) {
        for (int i = 0; i < args.size(); i++) {
            String arg = args.get(i);
            if (arg.startsWith("--help=")) {
                return Optional.of(arg.substring("--help=".length()));
            }
            if (arg.equals("--help") || arg.equals("-h")) {
                boolean word = i + 1 < args.size() && !args.get(i + 1).startsWith("-");
                return Optional.of(word ? args.get(i + 1) : "");
            }
        }
        return Optional.empty();
    }

    /**
     * Configuration properties in the order given. Throws {@link UsageException} for an unknown
     * flag, a missing or superfluous value, a value out of range.
     */
    public Map<String, String> parse(List<String> args) throws UsageException {
        Map<String, String> properties = new LinkedHashMap<>();
        Iterator<String> it = args.iterator();
        while (it.hasNext()) {
            String arg = it.next();
            int eq = arg.indexOf('=');
            boolean inline = arg.startsWith("--") && eq > 0;
            String flag = inline ? arg.substring(0, eq) : arg;
            String value = inline ? arg.substring(eq + 1) : null;
            SettingKey off = byOffFlag.get(flag);
            SettingKey key = byFlag.get(flag);
            if (off != null) {
                if (value != null) {
                    throw new UsageException(flag + " takes no value.");
                }
                properties.put(off.name(), "false");
            } else if (key == null) {
                throw unknown(arg, flag);
            } else {
                put(properties, key, flag, value == null ? following(key, flag, it) : value);
            }
        }
        return properties;
    }

    private static String following(SettingKey key, String flag, Iterator<String> rest)
            throws UsageException {
        if (key.form() == SettingKey.Form.BOOLEAN) {
            return "true";
        }
        if (!rest.hasNext()) {
            throw new UsageException(flag + " needs a value: " + key.allowed() + ".");
        }
        return rest.next();
    }

    private static void put(Map<String, String> into, SettingKey key, String flag, String value)
            throws UsageException {
        String problem = key.problem(value);
        if (problem != null) {
            throw new UsageException(flag + " " + value + ": " + problem + ".");
        }
        switch (key.name()) {
            case WORKERS -> into.merge(WORKERS, value, (a, b) -> a + "," + b);
            case TOKENIZERS -> {
                int eq = value.indexOf('=');
                if (eq == 0 || eq == value.length() - 1) {
                    throw new UsageException(flag + " " + value + ": must be MODEL=FILE or FILE.");
                }
                // Model names hold dots and slashes, so the name inside the key is quoted.
                into.put(
                        eq < 0
                                ? DEFAULT_TOKENIZER
                                : TOKENIZERS.replace("*", "\"" + value.substring(0, eq) + "\""),
                        value.substring(eq + 1));
            }
            default -> into.put(key.name(), value);
        }
    }

    private UsageException unknown(String arg, String flag) {
        if (!arg.startsWith("-")) {
            return new UsageException(
                    "`" + arg + "` is not a flag; `serve --help all` lists all of them.");
        }
        Map<String, SettingKey> all = new HashMap<>(byFlag);
        all.putAll(byOffFlag);
        String hint =
                Nearest.to(flag, all.keySet().stream().sorted().collect(Collectors.toList()))
                        .map(f -> " Did you mean " + f + "?")
                        .orElse("");
        return new UsageException(
                "Unknown flag " + flag + "." + hint + " `serve --help all` lists all of them.");
    }

    /** The key a flag sets, null for an unknown flag. */
    public @Nullable SettingKey keyOf(String flag) {
        SettingKey key = byFlag.get(flag);
        return key == null ? byOffFlag.get(flag) : key;
    }
}
