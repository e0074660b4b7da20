package io.warmpath.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.api.openapi.DescriptionResource;
import io.warmpath.repository.RecordedText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code src/docs/reference/http-api.md} says what the description of the API says. */
class HttpApiDocsTest {
    private static final Path SOURCES = Path.of("src/gateway/main/java/io/warmpath");

    private static JsonNode api() throws IOException {
        try (InputStream file = DescriptionResource.class.getResourceAsStream("openapi.json")) {
            return new ObjectMapper()
                    .readTree(Objects.requireNonNull(file, "the build makes openapi.json"));
        }
    }

    @Test
    void the_page_is_current() throws IOException {
        RecordedText.same(
                Path.of("src/docs/reference/http-api.md"),
                HttpApiPage.markdown(api(), RecordDocs.in(SOURCES.resolve("api"))));
    }

    @Test
    void every_header_that_explains_is_described_and_no_other() throws IOException {
        Set<String> described = new TreeSet<>();
        api().at("/components/responses/Generated/headers")
                .fieldNames()
                .forEachRemaining(described::add);
        described.removeIf(name -> !name.startsWith("x-warmpath-"));
        assertEquals(
                literals("\"(x-warmpath-[a-z-]+)\"", "gateway/answer/Explanation.java"), described);
        assertTrue(described.size() >= 20, described::toString);
    }

    @Test
    void every_header_that_routing_reads_is_described() throws IOException {
        String all = api().at("/components/parameters").toString();
        Set<String> missing =
                literals(
                        "\"((?:x|thread)-[a-z-]+)\"",
                        "api/hints",
                        "gateway/request/SessionHeaders.java");
        assertTrue(missing.size() > 25, missing::toString);
        missing.removeIf(name -> Pattern.compile("[\"`]" + name + "[\"`]").matcher(all).find());
        assertEquals(Set.of(), missing);
    }

    /** What stands in these files and folders in the form of the pattern's group. */
    private static Set<String> literals(String pattern, String... places) throws IOException {
        Set<String> found = new TreeSet<>();
        for (String place : places) {
            List<Path> files;
            try (Stream<Path> all = Files.walk(SOURCES.resolve(place))) {
                files = all.filter(Files::isRegularFile).toList();
            }
            for (Path file : files) {
                Pattern.compile(pattern)
                        .matcher(Files.readString(file))
                        .results()
                        .forEach(m -> found.add(m.group(1)));
            }
        }
        return found;
    }
}
