package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** README, decision records and the launcher's help agree with each other and with the tree. */
class DocumentsTest {
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]+)(?:#[^)]*)?\\)");
    private static final Pattern COMMAND = Pattern.compile("\\./warmpath ([a-z][a-z0-9-]*)");
    private static final Pattern RECORD = Pattern.compile("(\\d{4})-[a-z0-9-]+\\.md");
    private static final Path RECORDS = Path.of("src", "docs", "adr");

    private static final List<String> SECTIONS =
            List.of("## Context", "## Options", "## Decision", "## What would make us reopen it");

    @Test
    void relative_links_lead_somewhere() {
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Path file : documents()) {
            for (MatchResult link : matches(LINK, RepositoryFiles.bytes(file))) {
                String target = link.group(1);
                if (target.contains("://")) {
                    continue;
                }
                links++;
                Path folder = RepositoryFiles.ROOT.resolve(file).getParent();
                if (!Files.exists(folder.resolve(target))) {
                    broken.add(file + " -> " + target);
                }
            }
        }
        assertTrue(links > 10, "only " + links + " links were read");
        assertEquals(List.of(), broken);
    }

    @Test
    void commands_in_the_documents_are_commands_of_the_launcher() {
        Set<String> known =
                matches(
                                Pattern.compile("(?m)^  ([a-z][a-z0-9-]*) {2,}"),
                                RepositoryFiles.text("warmpath")
                                        + RepositoryFiles.text("src/main/sh/help.sh"))
                        .stream()
                        .map(found -> found.group(1))
                        .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(known.containsAll(Set.of("demo", "test", "serve")), "read only " + known);
        Set<String> used = new TreeSet<>();
        documents()
                .forEach(
                        file ->
                                matches(COMMAND, RepositoryFiles.bytes(file))
                                        .forEach(found -> used.add(found.group(1))));
        assertTrue(used.contains("demo"), "the README no longer says ./warmpath demo");
        used.removeAll(known);
        assertEquals(Set.of(), used, "no such commands");
    }

    @Test
    void decision_records_are_numbered_once_and_named_in_their_headings() {
        Set<String> numbers = new TreeSet<>();
        for (Path file : records()) {
            String number = number(file);
            assertTrue(numbers.add(number), "two records have the number " + number);
            String text = RepositoryFiles.bytes(file);
            assertTrue(text.startsWith("# " + number + " "), file + " has another number inside");
            int at = 0;
            for (String section : SECTIONS) {
                int found = text.indexOf("\n" + section + "\n");
                assertTrue(found > at, file + " has no '" + section + "' in its place");
                at = found;
            }
            if (!number.equals("0000")) {
                assertTrue(
                        text.contains("\nStatus: accepted\n")
                                || text.contains("\nStatus: proposed\n")
                                || text.contains("\nStatus: superseded by "),
                        file + " has no status");
                assertTrue(
                        Pattern.compile("\nDate: \\d{4}-\\d{2}-\\d{2}\n").matcher(text).find(),
                        file + " has no date");
            }
        }
        assertTrue(numbers.size() > 4, "only " + numbers + " were read");
    }

    @Test
    void the_list_of_decision_records_is_complete() {
        String list = RepositoryFiles.text("src/docs/adr/README.md");
        for (Path file : records()) {
            assertTrue(list.contains("(" + file.getFileName() + ")"), file + " is not listed");
            String heading = RepositoryFiles.bytes(file).lines().findFirst().orElseThrow();
            if (!number(file).equals("0000")) {
                assertTrue(
                        list.contains("| " + heading.substring("# 0000 ".length()) + " |"),
                        file + " is listed under another title");
            }
        }
        assertFalse(list.contains("(0000-template.md) |"), "the template is no decision");
    }

    private static List<Path> documents() {
        return RepositoryFiles.all().stream().filter(f -> f.toString().endsWith(".md")).toList();
    }

    private static List<Path> records() {
        return RepositoryFiles.all().stream()
                .filter(f -> RECORDS.equals(f.getParent()))
                .filter(f -> RECORD.matcher(f.getFileName().toString()).matches())
                .sorted()
                .toList();
    }

    private static String number(Path record) {
        return record.getFileName().toString().substring(0, 4);
    }

    private static List<MatchResult> matches(Pattern pattern, String text) {
        return pattern.matcher(text).results().toList();
    }
}
