package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every dependency has a licence that the product may be shipped under, and the page of licences is
 * that of the dependencies.
 *
 * <p>What reads the resolved dependencies needs {@code ./warmpath sbom}, which {@code ./warmpath
 * verify} runs before; without it the page stands for it, and is compared with the POM alone.
 * {@code -Ddocs.write=true} writes the page.
 */
class LicencesTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path PAGE = Path.of("src/docs/project/licences.md");
    private static final Path RESOLVED = Path.of("target", "sbom", "java.cdx.json");
    private static final Path NATIVE = Path.of("src", "main", "sbom", "native.cdx.json");
    private static final Path CONSOLE = Path.of("src", "main", "sbom", "console.cdx.json");

    /** A dependency of the POM that is shipped. */
    private static final Pattern DIRECT =
            Pattern.compile("<dependency>(?:(?!</dependency>).)*</dependency>", Pattern.DOTALL);

    private static JsonNode bom(Path file) throws IOException {
        return JSON.readTree(Files.readString(file));
    }

    @Test
    void a_licence_that_is_missing_or_unknown_would_be_found() throws IOException {
        JsonNode bom =
                JSON.readTree(
                        """
                        {"components":[
                         {"group":"io.warmpath","name":"warmpath","version":"1"},
                         {"group":"g","name":"none","version":"1"},
                         {"group":"g","name":"agpl","version":"1","licenses":[{"license":{"id":"AGPL-3.0-only"}}]},
                         {"group":"g","name":"choice","version":"1","licenses":[{"license":{"id":"LGPL-2.1"}},{"license":{"id":"Apache-2.0"}}]},
                         {"name":"named","version":"2","licenses":[{"license":{"name":"My Licence"}}]}]}
                        """);
        assertEquals(
                List.of("g:agpl", "g:none", "named"),
                Licences.rows(bom).stream()
                        .filter(r -> !r.isAllowed())
                        .map(Licences.Row::name)
                        .toList());
    }

    /** Needs no list of resolved dependencies: the page stands for it. */
    @Test
    void every_licence_on_the_page_is_allowed() throws IOException {
        String page = RepositoryFiles.text(PAGE.toString());
        List<Licences.Row> rows = Licences.rows(page);
        assertTrue(rows.size() > 150, "only " + rows.size() + " rows were read");
        assertEquals(List.of(), rows.stream().filter(r -> !r.isAllowed()).toList());
        String odd = page.replaceFirst("\\| io.nats:jnats [^\n]*", "| a | 1 | SSPL-1.0 |");
        assertEquals(
                List.of("a"),
                Licences.rows(odd).stream()
                        .filter(r -> !r.isAllowed())
                        .map(Licences.Row::name)
                        .toList());
    }

    @Test
    void the_native_library_is_made_of_what_may_be_shipped() throws IOException {
        List<Licences.Row> rows = Licences.rows(bom(NATIVE));
        assertFalse(rows.isEmpty());
        assertTrue(rows.stream().allMatch(Licences.Row::isAllowed), rows::toString);
    }

    /** The packages are unpacked into the jar, so Maven's own list does not know of them. */
    @Test
    void the_console_is_made_of_what_may_be_shipped_in_the_versions_of_the_pom()
            throws IOException {
        String pom = RepositoryFiles.text("pom.xml");
        List<Licences.Row> rows = Licences.rows(bom(CONSOLE));
        assertEquals(List.of("lit-html", "uplot"), rows.stream().map(Licences.Row::name).toList());
        for (Licences.Row row : rows) {
            assertTrue(row.isAllowed(), row::toString);
            assertEquals(tag(pom, row.name() + ".version"), row.version());
        }
    }

    @Test
    void every_dependency_may_be_shipped_and_is_on_the_page() throws IOException {
        assumeTrue(Files.exists(RESOLVED), "made by ./warmpath sbom, as verify does");
        List<Licences.Row> rows = Licences.rows(bom(RESOLVED));
        assertTrue(rows.size() > 100, "only " + rows.size() + " components");
        assertEquals(List.of(), rows.stream().filter(r -> !r.isAllowed()).toList());
        String page = Licences.page(rows, Licences.rows(bom(NATIVE)), Licences.rows(bom(CONSOLE)));
        RecordedText.same(PAGE, page);
    }

    @Test
    void the_page_has_every_dependency_of_the_pom() throws IOException {
        String root = RepositoryFiles.text("pom.xml");
        String pom =
                root.replaceAll("(?s)<dependencyManagement>.*?</dependencyManagement>", "")
                        + Stream.of("core", "tokens", "adapters", "gateway")
                                .map(m -> RepositoryFiles.text("src/" + m + "/pom.xml"))
                                // Connectors that operators build in themselves are not shipped.
                                .map(m -> m.replaceAll("(?s)<profiles>.*?</profiles>", ""))
                                .collect(Collectors.joining());
        String page = RepositoryFiles.text(PAGE.toString());
        List<String> missing = new ArrayList<>();
        int shipped = 0;
        for (MatchResult found : DIRECT.matcher(pom).results().toList()) {
            String dependency = found.group();
            if (dependency.contains("<scope>")) {
                continue;
            }
            shipped++;
            if (tag(dependency, "groupId").equals("io.warmpath")) {
                continue;
            }
            String name = tag(dependency, "groupId") + ":" + tag(dependency, "artifactId");
            String version = tag(dependency, "version");
            if (version.startsWith("${")) {
                String key = version.substring(2, version.length() - 1);
                version = tag(pom, Pattern.quote(key));
            }
            if (!page.contains("| " + name + " | " + version)) {
                missing.add(name + " " + version);
            }
        }
        assertTrue(shipped > 10, "only " + shipped + " dependencies were read");
        assertEquals(List.of(), missing);
    }

    private static String tag(String xml, String name) {
        return Pattern.compile("<" + name + ">([^<]*)</")
                .matcher(xml)
                .results()
                .map(m -> m.group(1))
                .findFirst()
                .orElse("");
    }
}
