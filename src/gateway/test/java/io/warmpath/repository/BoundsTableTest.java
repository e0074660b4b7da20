package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table of bounds names keys, defaults and tests that exist. */
class BoundsTableTest {
    private static final int CELLS = 5;

    /** Whose default the table says in words: what 0, or nothing, stands for. */
    private static final Set<String> IN_WORDS =
            Set.of(
                    "warmpath.http.max-body-memory",
                    "warmpath.memory.limit",
                    "warmpath.http.clients.max-connections");

    private static List<List<String>> rows() {
        String page = RepositoryFiles.text("src/docs/how-to/operations.md");
        int from = page.indexOf("\n## Bounds\n");
        int to = page.indexOf("\n## ", from + 1);
        assertTrue(from > 0 && to > from, "operations.md has no section of bounds");
        List<List<String>> rows = new ArrayList<>();
        for (String line : page.substring(from, to).split("\n", -1)) {
            if (line.startsWith("| ") && !line.startsWith("| bound ")) {
                rows.add(List.of(line.substring(2, line.length() - 2).split(" \\| ", -1)));
            }
        }
        assertTrue(rows.size() > 10, () -> "only " + rows.size() + " rows were read");
        rows.forEach(row -> assertEquals(CELLS, row.size(), row::toString));
        return rows;
    }

    private static String code(String cell) {
        return cell.replace("`", "");
    }

    @Test
    void its_keys_exist_and_have_these_defaults() {
        Map<String, SettingKey> keys =
                SettingCatalog.read().keys().stream()
                        .collect(Collectors.toMap(SettingKey::name, k -> k));
        for (List<String> row : rows()) {
            String key = code(row.get(1));
            if (key.equals("-")) {
                continue;
            }
            assertTrue(keys.containsKey(key), key + " is no key");
            if (!IN_WORDS.contains(key)) {
                assertEquals(keys.get(key).defaultValue(), row.get(2), key);
            }
        }
    }

    @Test
    void its_tests_exist() {
        Map<String, Path> classes =
                RepositoryFiles.all().stream()
                        .filter(file -> file.toString().endsWith("Test.java"))
                        .collect(
                                Collectors.toMap(
                                        file -> file.getFileName().toString().replace(".java", ""),
                                        file -> file,
                                        (one, other) -> one));
        for (List<String> row : rows()) {
            String[] test = code(row.get(4)).split("\\.", -1);
            assertEquals(2, test.length, row::toString);
            Path file = classes.get(test[0]);
            assertTrue(file != null, test[0] + " is no test");
            assertTrue(
                    RepositoryFiles.bytes(file).contains("    void " + test[1] + "("),
                    test[0] + " has no test " + test[1]);
        }
    }
}
