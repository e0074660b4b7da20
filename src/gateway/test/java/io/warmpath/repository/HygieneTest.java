package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What must not be in the tree: addresses of package or image registries, lock files that hold
 * them, and paths outside the tree. Addresses are checked against a list of welcome ones, so that a
 * new one is a decision.
 */
class HygieneTest {
    private static final Pattern ADDRESS =
            Pattern.compile("\\b(?:https?|git|ssh|ftp)://([A-Za-z0-9.-]+)");

    /** {@code host.tld/path:tag}, as in FROM and image lines. */
    private static final Pattern IMAGE =
            Pattern.compile(
                    "(?m)^\\s*(?:FROM|-?\\s*image:|newName:)\\s+\"?([a-z0-9-]+(?:\\.[a-z0-9-]+)+)/");

    /** Names that identify a format, or a page for people. Nothing is downloaded from them. */
    private static final Set<String> WELCOME =
            Set.of(
                    "maven.apache.org", // name spaces of pom.xml
                    "www.w3.org", // name spaces of XML and SVG
                    "www.apache.org", // the licence
                    "www.debian.org", // the format of a package's copyright file
                    "in-toto.io", // types of provenance
                    "slsa.dev");

    /**
     * Addresses of examples: no dot (a service name), loopback, link-local, documentation ranges.
     */
    private static final Pattern EXAMPLE =
            Pattern.compile(
                    "[A-Za-z0-9-]+|[a-z0-9-]+\\.sglang|kubernetes\\.default\\.svc|.*\\.(?:example|invalid|test|local|internal)"
                            + "|(?:.*\\.)?example\\.(?:com|org|net)"
                            + "|(?:127|10|169\\.254|192\\.0\\.2|192\\.168|198\\.51\\.100|203\\.0\\.113)\\..*"
                            + "|0\\.0\\.0\\.0|\\.*");

    private static final Set<String> LOCK_FILES =
            Set.of(
                    "package-lock.json",
                    "npm-shrinkwrap.json",
                    "yarn.lock",
                    "pnpm-lock.yaml",
                    "poetry.lock",
                    "uv.lock",
                    "Pipfile.lock",
                    "Cargo.lock",
                    "go.sum",
                    "gradle.lockfile",
                    "maven-wrapper.properties",
                    "settings.xml");

    // In two pieces, so that this file does not contain what it looks for.
    private static final List<String> OUTSIDE = List.of("/work/" + "shared", "../" + "shared");

    @Test
    void the_tree_is_seen() {
        List<Path> all = RepositoryFiles.all();
        assertTrue(all.contains(Path.of("pom.xml")), "pom.xml not among " + all.size());
        assertTrue(all.contains(Path.of("native-core/include/kvindex.h")), "kvindex.h");
        assertTrue(all.stream().noneMatch(f -> f.startsWith("target")), "target is searched");
    }

    @Test
    void no_address_is_written_down_that_is_not_welcome() {
        assertEquals(
                List.of(),
                RepositoryFiles.all().stream()
                        .flatMap(
                                f ->
                                        unwelcome(RepositoryFiles.bytes(f))
                                                .map(host -> f + ": " + host))
                        .distinct()
                        .toList());
    }

    @Test
    void an_unwelcome_address_would_be_found() {
        assertEquals(
                List.of("registry.invented.io"),
                unwelcome("x https" + "://registry.invented.io/a http://127.0.0.1:1").toList());
        assertEquals(
                List.of("images.invented.io"),
                unwelcome("FROM images.invented" + ".io/team/base:1 AS build\n").toList());
    }

    @Test
    void no_lock_file_of_a_package_manager_is_there() {
        assertEquals(
                List.of(),
                RepositoryFiles.all().stream()
                        .filter(f -> LOCK_FILES.contains(f.getFileName().toString()))
                        .toList());
    }

    /** Without it each of them starts the application in a JVM of its own. */
    @Test
    void tests_that_quarkus_starts_are_tagged() {
        List<Path> started =
                RepositoryFiles.all().stream()
                        .filter(f -> f.toString().endsWith("Test.java"))
                        .filter(f -> f.startsWith("src/gateway"))
                        .filter(f -> RepositoryFiles.bytes(f).contains("\n@QuarkusTest\n"))
                        .toList();
        assertTrue(started.size() > 5, "only " + started);
        assertEquals(
                List.of(),
                started.stream()
                        .filter(f -> !RepositoryFiles.bytes(f).contains("@Tag(\"quarkus\")"))
                        .toList());
    }

    @Test
    void nothing_refers_to_a_place_outside_the_tree() {
        assertEquals(
                List.of(),
                RepositoryFiles.all().stream()
                        .filter(
                                f -> {
                                    String text = RepositoryFiles.bytes(f);
                                    return OUTSIDE.stream().anyMatch(text::contains);
                                })
                        .toList());
    }

    private static Stream<String> unwelcome(String text) {
        return Stream.concat(hosts(ADDRESS, text), hosts(IMAGE, text))
                .filter(host -> !WELCOME.contains(host))
                .filter(host -> !EXAMPLE.matcher(host).matches());
    }

    private static Stream<String> hosts(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1));
    }
}
