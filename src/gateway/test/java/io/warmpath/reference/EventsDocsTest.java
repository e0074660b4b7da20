package io.warmpath.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.events.DropReason;
import io.warmpath.fleet.EventView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** {@code src/docs/reference/events.md} names the states and reasons that there are. */
class EventsDocsTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)` \\|");

    @Test
    void its_states_are_those_of_sources() throws IOException {
        assertEquals(
                EventView.ofSources().stream().map(EventView::word).collect(Collectors.toSet()),
                rows("\n| state |"));
    }

    @Test
    void its_reasons_are_those_for_which_events_are_dropped() throws IOException {
        assertEquals(
                Arrays.stream(DropReason.values())
                        .map(DropReason::label)
                        .collect(Collectors.toSet()),
                rows("\n| reason |"));
    }

    /** First cells of the table that begins so. */
    private static Set<String> rows(String head) throws IOException {
        String page = Files.readString(Path.of("src/docs/reference/events.md"));
        String table = page.substring(page.indexOf(head) + 1).split("\n\n", 2)[0];
        List<String> found = ROW.matcher(table).results().map(m -> m.group(1)).toList();
        Set<String> all = Set.copyOf(found);
        assertEquals(found.size(), all.size(), "a row twice");
        return all;
    }
}
