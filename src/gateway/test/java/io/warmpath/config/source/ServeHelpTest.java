package io.warmpath.config.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What {@code serve --help} says at first, of a group, of a word, and how wide. */
class ServeHelpTest {
    private static final SettingCatalog CATALOG = SettingCatalog.read();

    private static String help(String topic) throws UsageException {
        return ServeHelp.text(CATALOG, topic, 80);
    }

    @Test
    void each_key_belongs_to_one_group_and_no_group_is_empty() {
        for (SettingKey key : CATALOG.keys()) {
            List<SettingGroup> groups =
                    Arrays.stream(SettingGroup.values()).filter(g -> g.has(key)).toList();
            assertEquals(1, groups.size(), key.name() + " belongs to " + groups);
        }
        for (SettingGroup group : SettingGroup.values()) {
            assertTrue(CATALOG.keys().stream().anyMatch(group::has), group.word());
        }
    }

    @Test
    void the_first_page_fits_one_look_and_names_all_groups() throws UsageException {
        String help = help("");
        assertTrue(help.lines().count() < 70, help);
        for (String group : SettingGroup.all()) {
            assertTrue(help.contains("\n  " + group + " ("), group);
        }
        assertTrue(help.contains("\n  --http-port PORT          Port to listen on;"), help);
    }

    @Test
    void no_line_is_wider_than_the_terminal_but_for_one_long_word() throws UsageException {
        for (int width : new int[] {60, 72, 80, 100}) {
            for (String topic : List.of("", "all")) {
                ServeHelp.text(CATALOG, topic, width)
                        .lines()
                        .filter(line -> line.length() > width)
                        .forEach(
                                line ->
                                        assertTrue(
                                                line.strip().indexOf(' ') < 0,
                                                width + ": " + line));
            }
        }
    }

    @Test
    void a_group_has_its_keys_and_no_others() throws UsageException {
        String help = help("retry");
        assertTrue(
                help.startsWith(
                        "retry: other workers for a request, hedging, streams that move.\n"),
                help);
        assertTrue(help.contains("warmpath.migration.max-memory"), help);
        assertFalse(help.contains("warmpath.http.port"), help);
    }

    @Test
    void a_word_finds_flags_and_keys() throws UsageException {
        String help = help("queue-limit");
        assertTrue(
                help.startsWith("Flags and keys with `queue-limit` in their name.\n\nFlags:\n"),
                help);
        assertTrue(help.contains("\n  --router-queue-limit\n"), help);
        assertFalse(help.contains("--http-port"), help);
    }

    @Test
    void what_is_nowhere_is_refused_with_the_groups() {
        String said = assertThrows(UsageException.class, () -> help("frob")).getMessage();
        assertTrue(
                said.startsWith("There is no help on `frob`. `serve --help GROUP` knows workers, "),
                said);
    }

    @Test
    void the_terminals_width_is_taken_within_reason() {
        assertEquals(80, ServeHelp.width(Optional.empty()));
        assertEquals(80, ServeHelp.width(Optional.of("wide")));
        assertEquals(72, ServeHelp.width(Optional.of("72")));
        assertEquals(100, ServeHelp.width(Optional.of("300")));
        assertEquals(60, ServeHelp.width(Optional.of("7")));
    }
}
