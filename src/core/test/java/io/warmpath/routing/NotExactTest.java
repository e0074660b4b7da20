package io.warmpath.routing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NotExactTest {
    private static final Path PAGE = Path.of("src/docs/reference/engines.md");

    @Test
    void the_page_lists_them_in_their_order() throws IOException {
        List<String> rows =
                Files.readAllLines(PAGE).stream()
                        .dropWhile(line -> !line.startsWith("| reason |"))
                        .skip(2)
                        .takeWhile(line -> line.startsWith("| `"))
                        .toList();
        List<String> want = Arrays.stream(NotExact.values()).map(NotExactTest::row).toList();
        assertEquals(
                want,
                rows,
                () -> PAGE + " should say\n" + want.stream().collect(Collectors.joining("\n")));
    }

    private static String row(NotExact why) {
        String predicted = why.compares() ? "as a guess" : why.predicts() ? "at least" : "no";
        return "| `"
                + why.label()
                + "` | "
                + why.words()
                + " | "
                + predicted
                + " | "
                + why.more()
                + " |";
    }

    @ParameterizedTest
    @EnumSource
    void each_fits_a_header(NotExact why) {
        assertFalse(why.words().isBlank());
        assertTrue(why.words().chars().allMatch(c -> c >= ' ' && c < 0x7f), why.words());
        assertTrue(why.predicts() || !why.compares());
    }
}
