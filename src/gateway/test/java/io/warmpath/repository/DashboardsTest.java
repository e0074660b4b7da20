package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Dashboards and alerts ask for metrics that exist, with tags that they have. */
class DashboardsTest {
    private static final Pattern METRIC = Pattern.compile("\\bwarmpath_[a-z_]+");
    private static final Pattern BY = Pattern.compile("by \\(([^)]*)\\)");

    /** Given by the scrape, or by histograms. */
    private static final Set<String> OTHERS =
            Set.of("namespace", "pod", "le", "job", "instance", "container");

    private static Set<String> metrics() throws IOException {
        Set<String> names = new TreeSet<>();
        for (String line :
                Files.readString(Path.of("src/docs/reference/metrics.md")).lines().toList()) {
            if (line.startsWith("| `warmpath_")) {
                String name = line.substring(3, line.indexOf('`', 3));
                names.add(name);
                String kind = line.split("\\|", -1)[2].strip();
                if (kind.equals("timer") || kind.equals("distribution_summary")) {
                    names.addAll(List.of(name + "_sum", name + "_count", name + "_max"));
                    names.add(name + "_bucket");
                }
            }
        }
        return names;
    }

    private static Set<String> tags() throws IOException {
        Set<String> tags = new HashSet<>(OTHERS);
        for (String line :
                Files.readString(Path.of("src/docs/reference/metrics.md")).lines().toList()) {
            if (line.startsWith("| `warmpath_")) {
                for (String tag : line.split("\\|", -1)[3].split(";", -1)) {
                    tags.add(tag.strip().split(":", 2)[0]);
                }
            }
        }
        return tags;
    }

    private static List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(Path.of("k8s"))) {
            return all.filter(
                            f ->
                                    f.toString().endsWith(".json")
                                            || f.getFileName().toString().contains("rule"))
                    .toList();
        }
    }

    @Test
    void every_metric_that_is_asked_for_exists() throws IOException {
        Set<String> known = metrics();
        List<Path> files = files();
        assertTrue(files.stream().anyMatch(f -> f.endsWith("warmpath.json")), files.toString());
        for (Path file : files) {
            Matcher m = METRIC.matcher(Files.readString(file));
            int found = 0;
            while (m.find()) {
                found++;
                assertTrue(known.contains(m.group()), file + " asks for " + m.group());
            }
            assertTrue(found > 0 || !file.endsWith("warmpath.json"), file.toString());
        }
    }

    @Test
    void what_is_summed_by_is_a_tag() throws IOException {
        Set<String> known = tags();
        for (Path file : files()) {
            Matcher m = BY.matcher(Files.readString(file));
            while (m.find()) {
                for (String tag : m.group(1).split(",", -1)) {
                    assertTrue(known.contains(tag.strip()), file + " sums by " + tag);
                }
            }
        }
    }

    @Test
    void the_panels_do_not_cover_each_other() throws IOException {
        JsonNode board =
                new ObjectMapper()
                        .readTree(Path.of("k8s/components/dashboards/warmpath.json").toFile());
        List<int[]> placed = new ArrayList<>();
        Set<Integer> ids = new HashSet<>();
        for (JsonNode panel : board.get("panels")) {
            assertTrue(ids.add(panel.get("id").intValue()), panel.get("title").textValue());
            JsonNode at = panel.get("gridPos");
            int[] box = {
                at.get("x").intValue(),
                at.get("y").intValue(),
                at.get("w").intValue(),
                at.get("h").intValue()
            };
            assertTrue(box[0] + box[2] <= 24, panel.get("title").textValue());
            for (int[] other : placed) {
                assertFalse(
                        box[0] < other[0] + other[2]
                                && other[0] < box[0] + box[2]
                                && box[1] < other[1] + other[3]
                                && other[1] < box[1] + box[3],
                        panel.get("title").textValue());
            }
            placed.add(box);
        }
        assertTrue(placed.size() > 10);
    }
}
