package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** Whoever an alert wakes finds in the documents what it means and what to do. */
class AlertsTest {
    private static final Pattern FENCED = Pattern.compile("(?ms)^```sh\n(.*?)^```$");
    private static final String PAGE = "src/docs/how-to/operations.md";

    /** A metric, and what is asked of its tags. */
    private static final Pattern METRIC =
            Pattern.compile("\\b(warmpath_[a-z_]+)(?:\\{([^}]*)})?", Pattern.DOTALL);

    private static final Pattern TAG = Pattern.compile("([a-z_]+)(=~?|!=|!~)\"([^\"]*)\"");

    private static Object yaml(String file) {
        return new Yaml(new SafeConstructor(new LoaderOptions())).load(RepositoryFiles.text(file));
    }

    private static Object at(Object tree, String key) {
        Object value = ((Map<?, ?>) tree).get(key);
        assertTrue(value != null, key + " is missing in " + tree);
        return value;
    }

    private static Object groups(String file) {
        Object tree = yaml(file);
        return at(((Map<?, ?>) tree).containsKey("spec") ? at(tree, "spec") : tree, "groups");
    }

    /** Alerts by name. */
    private static Map<String, Object> alerts() {
        Map<String, Object> alerts = new TreeMap<>();
        for (Object group : (List<?>) groups("k8s/components/monitoring/prometheusrule.yaml")) {
            for (Object rule : (List<?>) at(group, "rules")) {
                alerts.put((String) at(rule, "alert"), rule);
            }
        }
        assertTrue(alerts.size() > 5, "only " + alerts.keySet());
        return alerts;
    }

    /** Sections below "Alerts", by heading. */
    private static Map<String, String> sections() {
        Map<String, String> sections = new LinkedHashMap<>();
        String page = RepositoryFiles.text(PAGE);
        int from = page.indexOf("\n## Alerts\n");
        assertTrue(from > 0, "no section about alerts");
        int to = page.indexOf("\n## ", from + 1);
        String all = page.substring(from, to < 0 ? page.length() : to);
        List<String> parts = List.of(all.split("\n### ", -1));
        for (String part : parts.subList(1, parts.size())) {
            sections.put(part.substring(0, part.indexOf('\n')), part);
        }
        return sections;
    }

    @Test
    void every_alert_has_a_section_and_every_section_an_alert() {
        assertEquals(alerts().keySet(), new TreeSet<>(sections().keySet()));
    }

    @Test
    void every_alert_names_its_section() {
        alerts().forEach(
                        (name, rule) ->
                                assertEquals(
                                        PAGE + "#" + name.toLowerCase(Locale.ROOT),
                                        at(at(rule, "annotations"), "runbook"),
                                        name));
    }

    @Test
    void a_section_says_what_it_means_what_users_notice_three_commands_and_what_to_change() {
        sections()
                .forEach(
                        (name, text) -> {
                            int before = 0;
                            for (String part :
                                    List.of("**Means:**", "**Users notice:**", "**Change:**")) {
                                int found = text.indexOf("\n" + part + " ");
                                assertTrue(found > before, name + " lacks " + part);
                                before = found;
                            }
                            long commands =
                                    FENCED.matcher(text)
                                            .results()
                                            .flatMap(m -> m.group(1).lines())
                                            .count();
                            assertEquals(3, commands, "first commands of " + name);
                        });
    }

    @Test
    void the_chart_has_the_same_alerts() {
        assertEquals(
                groups("k8s/components/monitoring/prometheusrule.yaml"),
                groups("k8s/helm/warmpath/alerts.yaml"));
    }

    /** Tags and their values by metric; no values: any. */
    private static Map<String, Map<String, Set<String>>> catalogue() {
        Map<String, Map<String, Set<String>>> known = new TreeMap<>();
        for (String line : RepositoryFiles.text("src/docs/reference/metrics.md").lines().toList()) {
            if (!line.startsWith("| `warmpath_")) {
                continue;
            }
            Map<String, Set<String>> tags = new TreeMap<>();
            List<String> cells = List.of(line.split("\\|", -1));
            for (String tag : cells.get(3).split(";", -1)) {
                List<String> parts = List.of(tag.strip().split(":", 2));
                tags.put(
                        parts.getFirst(),
                        parts.size() == 1
                                ? Set.of()
                                : Set.of(parts.getLast().strip().split(" ", -1)));
            }
            known.put(cells.get(1).strip().replace("`", ""), tags);
        }
        assertTrue(known.size() > 50, "only " + known.keySet());
        return known;
    }

    /** What an expression asks for that no gateway has. */
    private static List<String> unknown(String expression) {
        Map<String, Map<String, Set<String>>> known = catalogue();
        List<String> wrong = new ArrayList<>();
        Matcher metric = METRIC.matcher(expression);
        int metrics = 0;
        while (metric.find()) {
            metrics++;
            Map<String, Set<String>> tags = known.get(metric.group(1));
            if (tags == null) {
                wrong.add(metric.group(1));
                continue;
            }
            Matcher tag = TAG.matcher(metric.group(2) == null ? "" : metric.group(2));
            while (tag.find()) {
                Set<String> values = tags.get(tag.group(1));
                if (values == null) {
                    wrong.add(metric.group());
                } else if (!values.isEmpty()) {
                    Arrays.stream(tag.group(3).split("\\|", -1))
                            .filter(v -> !values.contains(v))
                            .forEach(
                                    v -> wrong.add(metric.group(1) + " " + tag.group(1) + "=" + v));
                }
            }
        }
        if (metrics == 0) {
            wrong.add("no metric in " + expression);
        }
        return wrong;
    }

    @Test
    void what_an_alert_asks_for_is_in_the_catalogue_with_these_tags() {
        Map<String, List<String>> wrong =
                alerts().entrySet().stream()
                        .collect(
                                Collectors.toMap(
                                        Map.Entry::getKey,
                                        e -> unknown((String) at(e.getValue(), "expr"))));
        wrong.values().removeIf(List::isEmpty);
        assertEquals(Map.of(), wrong);
    }

    @Test
    void what_nobody_has_is_seen() {
        assertEquals(List.of("warmpath_worker"), unknown("warmpath_worker == 0"));
        assertEquals(
                List.of("warmpath_workers state=gone"),
                unknown("sum(warmpath_workers{state=~\"ready|gone\"})"));
        assertEquals(
                List.of("warmpath_workers{model=\"m\"}"), unknown("warmpath_workers{model=\"m\"}"));
        assertFalse(unknown("up == 0").isEmpty());
    }

    @Test
    void metrics_that_a_section_looks_at_exist() {
        Set<String> names = catalogue().keySet();
        sections()
                .forEach(
                        (section, text) -> {
                            Matcher m = Pattern.compile("`(warmpath_[a-z_]+)").matcher(text);
                            while (m.find()) {
                                assertTrue(names.contains(m.group(1)), section + ": " + m.group(1));
                            }
                            Matcher grep =
                                    Pattern.compile("'\\^warmpath_(?:\\(([a-z_|]+)\\)|([a-z_]+))'")
                                            .matcher(text);
                            while (grep.find()) {
                                String begins =
                                        grep.group(1) == null ? grep.group(2) : grep.group(1);
                                for (String begin : begins.split("\\|", -1)) {
                                    assertTrue(
                                            names.stream()
                                                    .anyMatch(
                                                            n -> n.startsWith("warmpath_" + begin)),
                                            section + ": warmpath_" + begin);
                                }
                            }
                        });
    }
}
