package io.warmpath.repository;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The licences in a list of components (CycloneDX). */
final class Licences {
    /** Licences that the product may be shipped under; beside each stands why. */
    private static final Set<String> ALLOWED =
            RepositoryFiles.text("src/main/sbom/allowed-licences.tsv")
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split("\t", 2))
                    .peek(Licences::requireReason)
                    .map(columns -> columns[0])
                    .collect(Collectors.toUnmodifiableSet());

    /** A row of the page. */
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| (\\S.*?) \\| (.*?) \\| (.*?) \\|$");

    private static void requireReason(String... columns) {
        if (columns.length != 2 || columns[1].isBlank()) {
            throw new IllegalStateException("a licence without a reason: " + columns[0]);
        }
    }

    private Licences() {}

    /** One component. */
    record Row(String name, String version, List<String> licences) {
        static Row of(JsonNode component) {
            String group = component.path("group").asText();
            List<String> licences = new ArrayList<>();
            for (JsonNode l : component.path("licenses")) {
                JsonNode licence = l.path("license");
                licences.add(
                        l.hasNonNull("expression")
                                ? l.get("expression").asText()
                                : licence.path("id").asText(licence.path("name").asText()));
            }
            return new Row(
                    (group.isEmpty() ? "" : group + ":") + component.path("name").asText(),
                    component.path("version").asText(),
                    licences);
        }

        /** One that may be used is enough where there is a choice. */
        boolean isAllowed() {
            return licences.stream().anyMatch(ALLOWED::contains);
        }
    }

    /** All components but our own, each once, by name. */
    static List<Row> rows(JsonNode bom) {
        Map<String, Row> rows = new TreeMap<>();
        for (JsonNode component : bom.path("components")) {
            if (!component.path("group").asText().equals("io.warmpath")) {
                Row row = Row.of(component);
                rows.put(row.name() + " " + row.version(), row);
            }
        }
        return List.copyOf(rows.values());
    }

    /** The rows of the page. */
    static List<Row> rows(String page) {
        return ROW.matcher(page)
                .results()
                .filter(row -> !row.group(1).equals("component"))
                .map(
                        row ->
                                new Row(
                                        row.group(1),
                                        row.group(2),
                                        List.of(row.group(3).split(", ", -1))))
                .toList();
    }

    static String page(List<Row> java, List<Row> nativeParts, List<Row> console) {
        StringBuilder page = new StringBuilder();
        page.append("# Licences of what the product is made of\n\n")
                .append(
                        "Written by `LicencesTest` from `target/sbom` (`./warmpath sbom`); edits are")
                .append(" lost. What only builds or tests need is not\n")
                .append(
                        "shipped and not listed. Where several licences stand, one may be chosen.\n\n");
        table(page, "In the jars", java);
        table(page.append('\n'), "In the native library", nativeParts);
        table(page.append('\n'), "In the console", console);
        return page.toString();
    }

    private static void table(StringBuilder page, String title, List<Row> rows) {
        page.append("## ").append(title).append("\n\n");
        page.append("| component | version | licence |\n|---|---|---|\n");
        rows.stream()
                .sorted(Comparator.comparing(Row::name))
                .forEach(
                        r ->
                                page.append("| ")
                                        .append(r.name())
                                        .append(" | ")
                                        .append(r.version())
                                        .append(" | ")
                                        .append(String.join(", ", r.licences()))
                                        .append(" |\n"));
    }
}
