package io.warmpath.gateway.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tables of a request's and of an attempt's states, and their diagrams in the README. */
class StatesTest {
    private static final Path README =
            Stream.of("", "../..")
                    .map(
                            p ->
                                    Path.of(
                                            p,
                                            "src/gateway/main/java/io/warmpath/gateway/flow/README.md"))
                    .filter(Files::exists)
                    .findFirst()
                    .orElseThrow();

    private static final Pattern EDGE = Pattern.compile("^ *(\\w+ --> \\w+)", Pattern.MULTILINE);

    /** {@code A --> B} of each step that the table has. */
    private static <S extends Enum<S>> Set<String> edges(Class<S> type, BiPredicate<S, S> may) {
        return Arrays.stream(type.getEnumConstants())
                .flatMap(
                        from ->
                                Arrays.stream(type.getEnumConstants())
                                        .filter(to -> may.test(from, to))
                                        .map(to -> from + " --> " + to))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The same of a diagram. */
    private static Set<String> drawn(String text) {
        return EDGE.matcher(text)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The diagram under this heading. */
    private static String section(String name) throws IOException {
        String text = Files.readString(README);
        int from = text.indexOf("## " + name);
        assertTrue(from >= 0, () -> "no heading " + name);
        return text.substring(from, text.indexOf("```\n", text.indexOf("```mermaid", from)));
    }

    private static <S extends Enum<S>> void assertWhole(
            Class<S> type, S first, S last, BiPredicate<S, S> may) {
        Set<S> seen = EnumSet.of(first);
        boolean more = true;
        while (more) {
            Set<S> next = EnumSet.copyOf(seen);
            for (S to : type.getEnumConstants()) {
                if (seen.stream().anyMatch(from -> may.test(from, to))) {
                    next.add(to);
                }
            }
            more = seen.addAll(next);
        }
        assertEquals(EnumSet.allOf(type), seen);
        for (S state : type.getEnumConstants()) {
            assertEquals(state != last, may.test(state, last), () -> state + " to its end");
            assertFalse(may.test(last, state), () -> "the end to " + state);
        }
    }

    @Test
    void every_state_is_reached_and_may_end_and_nothing_follows_the_end() {
        assertWhole(
                RequestState.class,
                RequestState.ARRIVED,
                RequestState.OVER,
                RequestState::mayBecome);
        assertWhole(
                AttemptState.class,
                AttemptState.READY,
                AttemptState.CLOSED,
                AttemptState::mayBecome);
    }

    @Test
    void the_readme_draws_the_tables() throws IOException {
        assertEquals(
                edges(RequestState.class, RequestState::mayBecome), drawn(section("A request")));
        assertEquals(
                edges(AttemptState.class, AttemptState::mayBecome), drawn(section("An attempt")));
    }

    @Test
    void a_diagram_that_lacks_a_step_is_found() throws IOException {
        String without = section("An attempt").replaceFirst("HOLDING --> PASSING", "");
        assertNotEquals(edges(AttemptState.class, AttemptState::mayBecome), drawn(without));
    }

    @Test
    void a_client_that_has_a_part_of_an_answer_gets_no_other_one() {
        for (RequestState begun : EnumSet.of(RequestState.ANSWERING, RequestState.MOVING)) {
            for (RequestState before :
                    EnumSet.of(RequestState.QUEUED, RequestState.ASKED, RequestState.PAUSED)) {
                assertFalse(begun.mayBecome(before), () -> begun + " to " + before);
            }
        }
    }

    @Test
    void only_a_request_that_was_let_in_is_sent() {
        for (RequestState state : RequestState.values()) {
            boolean letIn = state == RequestState.QUEUED || state == RequestState.ASKED;
            assertEquals(letIn, state.mayBecome(RequestState.ASKED), state.name());
        }
    }

    @Test
    void an_attempt_that_was_given_up_passes_nothing_on() {
        for (AttemptState over : EnumSet.of(AttemptState.DETACHED, AttemptState.CLOSED)) {
            assertTrue(over.isOver());
            assertFalse(over.isRead());
            for (AttemptState read : EnumSet.of(AttemptState.HOLDING, AttemptState.PASSING)) {
                assertFalse(over.mayBecome(read), () -> over + " to " + read);
            }
        }
    }
}
