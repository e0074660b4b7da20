package io.warmpath.repository;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The licences in a list of components (CycloneDX). */
final class Licences {
    /** Licences that the product may be shipped under; names where a POM has no identifier. */
    private static final Set<String> ALLOWED =
            Set.of(
                    "Apache-2.0",
                    "MIT",
                    "MIT-0",
                    "BSD-2-Clause",
                    "BSD-3-Clause",
                    "EPL-1.0",
                    "EPL-2.0",
                    "ISC",
                    "CC0-1.0",
                    "MPL-2.0",
                    "Mozilla Public License version 2.0",
                    "Bouncy Castle Licence", // MIT under another name
                    "GPL-3.0-or-later WITH GCC-exception-3.1"); // run time of the compiler

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

    static String page(List<Row> java, List<Row> nativeParts) {
        StringBuilder page = new StringBuilder();
        page.append("# Licences of what the product is made of\n\n")
                .append(
                        "Written by `LicencesTest` from `target/sbom` (`./warmpath sbom`); edits are")
                .append(" lost. What only builds or tests need is not\n")
                .append(
                        "shipped and not listed. Where several licences stand, one may be chosen.\n\n");
        table(page, "In the jars", java);
        table(page.append('\n'), "In the native library", nativeParts);
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
