package io.warmpath.config.source;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Texts of {@code serve --help}, made from the catalogue. Stateless. */
public final class ServeHelp {
    /** Without a terminal that says its own. */
    public static final int DEFAULT_WIDTH = 80;

    private static final int LEAST_WIDTH = 60;

    /** Longer lines are hard to read. */
    private static final int MOST_WIDTH = 100;

    private static final String INDENT = "      ";
    private static final String ALL = "all";

    /** Where the text begins beside a flag or a group. */
    private static final int ASIDE = 28;

    /** What a first gateway needs, in the order in which one comes to need it. */
    private static final List<String> FIRST =
            List.of(
                    ("--worker --http-port --tokenizer --config --router-mode"
                                    + " --service-discovery --api-key-file --admin-token-file"
                                    + " --state-directory --log-level")
                            .split(" ", -1));

    private static final Pattern FIRST_SENTENCE = Pattern.compile("(.*?\\.)(?: [A-Z`].*)?");

    private ServeHelp() {}

    /** Columns of the terminal as {@code COLUMNS} says them; what is none is 80. */
    public static int width(Optional<String> columns) {
        int width =
                columns.filter(c -> c.matches("[1-9][0-9]{0,3}"))
                        .map(Integer::parseInt)
                        .orElse(DEFAULT_WIDTH);
        return Math.clamp(width, LEAST_WIDTH, MOST_WIDTH);
    }

    /**
     * @param topic empty: what to begin with, and the groups; {@code all}; a group; a part of a
     *     flag or key
     * @param width columns, none of which a line exceeds but for a single word
     * @throws UsageException when nothing is called so
     */
    public static String text(SettingCatalog catalog, String topic, int width)
            throws UsageException {
        Text text = new Text(width);
        if (topic.isEmpty()) {
            overview(text, catalog);
            return text.toString();
        }
        String word = topic.toLowerCase(Locale.ROOT);
        Optional<SettingGroup> group =
                Arrays.stream(SettingGroup.values()).filter(g -> g.word().equals(word)).findFirst();
        List<SettingKey> keys =
                of(
                        catalog,
                        word.equals(ALL)
                                ? k -> true
                                : group.isPresent() ? group.get()::has : k -> names(k, word));
        if (keys.isEmpty()) {
            throw new UsageException(
                    "There is no help on `%s`. `serve --help GROUP` knows %s and all."
                            .formatted(topic, String.join(", ", SettingGroup.all())));
        }
        text.wrap("", introduction(group, word));
        entries(text, keys);
        return text.toString();
    }

    private static String introduction(Optional<SettingGroup> group, String word) {
        return group.map(g -> g.word() + ": " + g.about() + ".")
                .orElse(
                        word.equals(ALL)
                                ? "All flags and keys of warmpath serve."
                                : "Flags and keys with `" + word + "` in their name.");
    }

    private static void overview(Text text, SettingCatalog catalog) {
        text.line("usage: warmpath serve [FLAG...]");
        text.line("");
        text.wrap(
                "",
                "Starts the gateway. A setting comes from its flag, else from the environment, else"
                        + " from the file of --config, else it has its default. Every key has an"
                        + " environment name: warmpath.http.port is WARMPATH_HTTP_PORT.");
        text.line("");
        text.line("To begin with:");
        for (String flag : FIRST) {
            SettingKey key = of(catalog, k -> k.setting().flags().contains(flag)).getFirst();
            String unset = key.shownDefault();
            text.aside(
                    flag + " " + value(key),
                    firstSentence(key.setting().doc())
                            + (unset.isEmpty() ? "" : " Default " + unset + "."));
        }
        text.line("");
        text.line("Groups of flags and keys:");
        for (SettingGroup group : SettingGroup.values()) {
            text.aside(group.word() + " (" + of(catalog, group::has).size() + ")", group.about());
        }
        text.line("");
        text.wrap(
                "",
                "`serve --help GROUP` lists one of them, `serve --help all` all of them, `serve --help"
                        + " WORD` what has the word in its name. src/docs/reference/configuration.md has all of"
                        + " them.");
    }

    private static String value(SettingKey key) {
        String unit = key.unit();
        return key.form() == SettingKey.Form.BOOLEAN
                ? ""
                : key.form() == SettingKey.Form.CHOICE
                        ? "WORD"
                        : unit.isEmpty()
                                ? "TEXT"
                                : unit.replaceFirst(",.*", "").toUpperCase(Locale.ROOT);
    }

    private static String firstSentence(String doc) {
        Matcher m = FIRST_SENTENCE.matcher(doc);
        return m.matches() ? m.group(1) : doc;
    }

    private static List<SettingKey> of(SettingCatalog catalog, Predicate<SettingKey> which) {
        return catalog.keys().stream().filter(which).toList();
    }

    private static boolean names(SettingKey key, String word) {
        return key.name().contains(word)
                || key.setting().allFlags().stream().anyMatch(flag -> flag.contains(word));
    }

    private static void entries(Text text, List<SettingKey> keys) {
        List<SettingKey> flags = keys.stream().filter(k -> !k.setting().flags().isEmpty()).toList();
        if (!flags.isEmpty()) {
            text.line("");
            text.line("Flags:");
            flags.forEach(k -> entry(text, String.join(", ", k.setting().allFlags()), k));
        }
        if (flags.size() < keys.size()) {
            text.line("");
            text.line(
                    flags.isEmpty()
                            ? "Keys (file or environment):"
                            : "Further keys (file or environment):");
            keys.stream()
                    .filter(k -> k.setting().flags().isEmpty())
                    .forEach(k -> entry(text, k.name(), k));
        }
    }

    private static void entry(Text text, String head, SettingKey key) {
        text.wrap("  ", head);
        List<String> facts = new ArrayList<>();
        if (!key.setting().flags().isEmpty()) {
            facts.add("key " + key.name());
        }
        if (!key.unit().isEmpty()) {
            facts.add("unit " + key.unit());
        }
        String unset = key.shownDefault();
        facts.add(unset.isEmpty() ? "no default" : "default " + unset);
        if (!key.setting().env().isEmpty()) {
            facts.add("env " + String.join(", ", environment(key)));
        }
        text.wrap(INDENT, key.setting().doc());
        text.wrap(INDENT, "[" + String.join("; ", facts) + "]");
    }

    /** Alias names without their units. */
    public static List<String> environment(SettingKey key) {
        return key.setting().env().stream().map(e -> e.replaceAll(":.*", "")).toList();
    }

    /** Lines of a width. */
    private static final class Text {
        private final StringBuilder out = new StringBuilder();
        private final int width;

        private Text(int width) {
            this.width = width;
        }

        private void line(String line) {
            out.append(line.stripTrailing()).append('\n');
        }

        private void wrap(String indent, String text) {
            wrap(indent, indent, text);
        }

        /** A text beside a word; below it where the word is long. */
        private void aside(String word, String text) {
            String head = "  " + word.strip();
            if (head.length() + 2 > ASIDE) {
                line(head);
                head = "";
            }
            wrap(head + " ".repeat(ASIDE - head.length()), " ".repeat(ASIDE), text);
        }

        private void wrap(String first, String indent, String text) {
            StringBuilder line = new StringBuilder(first);
            int empty = first.length();
            for (String word : text.split(" ", -1)) {
                if (line.length() + word.length() + 1 > width && line.length() > empty) {
                    line(line.toString());
                    line.setLength(0);
                    line.append(indent);
                    empty = indent.length();
                }
                if (line.length() > empty) {
                    line.append(' ');
                }
                line.append(word);
            }
            line(line.toString());
        }

        @Override
        public String toString() {
            return out.toString();
        }
    }
}
