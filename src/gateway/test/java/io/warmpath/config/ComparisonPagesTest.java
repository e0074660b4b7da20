package io.warmpath.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.source.CommandLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages that compare this gateway with others name flags, keys and metrics that it has. */
class ComparisonPagesTest {
    private static final Path DOCS = Path.of("src/docs/how-to");
    private static final Path METRICS = Path.of("src/docs/reference/metrics.md");
    private static final SettingCatalog CATALOG = SettingCatalog.read();
    private static final CommandLine FLAGS = new CommandLine(CATALOG);
    private static final Pattern FLAG = Pattern.compile("`(--[a-z0-9-]+)");
    private static final Pattern KEY = Pattern.compile("`(warmpath\\.[a-z0-9.*-]+)`");
    private static final Pattern METRIC =
            Pattern.compile("`((?:warmpath|router_shared_cache)_[a-z0-9_]+)`");
    private static final Pattern ENVIRONMENT = Pattern.compile("`(DYN_[A-Z0-9_]+)`");

    @ParameterizedTest
    @ValueSource(strings = {"from-dynamo.md", "from-smg.md"})
    void a_page_names_only_what_is_there_and_says_none_only_of_what_is_not(String page)
            throws IOException {
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        for (String line : Files.readAllLines(DOCS.resolve(page))) {
            String[] cells = line.split("\\|", -1);
            if (!line.startsWith("| `--") || cells.length < 5) {
                continue;
            }
            rows++;
            String ours = cells[2].strip();
            for (String flag : found(FLAG, cells[1])) {
                boolean known = FLAGS.keyOf(flag) != null;
                if (ours.startsWith(known ? "none" : "the same")) {
                    wrong.add(flag + " is said to be: " + ours);
                }
            }
            for (String flag : found(FLAG, ours)) {
                if (FLAGS.keyOf(flag) == null) {
                    wrong.add(flag + " is no flag of this gateway");
                }
            }
        }
        assertTrue(rows > 25, "only " + rows + " rows were read");
        String text = Files.readString(DOCS.resolve(page));
        for (String key : found(KEY, text)) {
            // A word that goes before many keys, or one key.
            if (CATALOG.find(key).isEmpty()
                    && CATALOG.keys().stream().noneMatch(k -> k.name().startsWith(key + "."))) {
                wrong.add(key + " is no key");
            }
        }
        Set<String> metrics = new HashSet<>(found(METRIC, Files.readString(METRICS)));
        for (String metric : found(METRIC, text)) {
            if (!metrics.contains(metric)) {
                wrong.add(metric + " is no metric");
            }
        }
        Set<String> environment =
                CATALOG.keys().stream()
                        .flatMap(k -> k.setting().env().stream())
                        .map(name -> name.replaceAll(":.*", ""))
                        .collect(Collectors.toSet());
        for (String name : found(ENVIRONMENT, text)) {
            if (!environment.contains(name)) {
                wrong.add(name + " is not read from the environment");
            }
        }
        assertEquals(List.of(), wrong);
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text).results().map((MatchResult m) -> m.group(1)).toList();
    }
}
