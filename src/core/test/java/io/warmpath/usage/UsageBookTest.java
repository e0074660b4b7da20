package io.warmpath.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class UsageBookTest {
    private static final long SECOND = 1_000;
    private static final long MINUTE = 60 * SECOND;
    private static final long HOUR = 60 * MINUTE;

    /** A whole number of hours after 1970, so that steps of every window begin here. */
    private long now = 1_000 * HOUR;

    private final List<String> seen = new ArrayList<>();
    private final UsageBook book =
            new UsageBook(
                    2,
                    () -> now,
                    tenant -> {
                        seen.add("+" + tenant.name());
                        return () -> seen.add("-" + tenant.name());
                    });

    private static RequestUse use(String tenant, String model, long prompt) {
        return new RequestUse(tenant, model, RequestUse.End.OK, prompt, 64, 16, 5, 2.5);
    }

    /** Requests by tenant and model. */
    private Map<String, Long> requests(UsageWindow window) {
        Map<String, Long> out = new TreeMap<>();
        book.report(window)
                .rows()
                .forEach(
                        r ->
                                out.merge(
                                        r.tenant() + "/" + r.model(),
                                        r.spent().requests(),
                                        Long::sum));
        return out;
    }

    @Test
    void numbers_of_a_row_are_sums_over_its_requests() {
        book.count(use("a", "m", 100));
        book.count(use("a", "m", 200));
        book.count(new RequestUse("a", "m", RequestUse.End.ERROR, 0, 0, 0, 0, 0));
        book.count(new RequestUse("a", "m", RequestUse.End.LEFT, 0, 0, 0, 0, 0));
        book.count(RequestUse.refused("a", "m"));
        for (UsageWindow window : UsageWindow.values()) {
            assertEquals(
                    List.of(new UsageBook.Row("a", "m", new Spent(5, 1, 1, 300, 128, 32, 10, 5))),
                    book.report(window).rows(),
                    window.word());
        }
    }

    @Test
    void a_window_is_as_long_as_its_name_and_one_step_at_most_longer() {
        now += 29 * SECOND;
        book.count(use("a", "m", 1));
        long began = now;
        now = 1_000 * HOUR + 5 * MINUTE + 29 * SECOND;
        assertEquals(Map.of("a/m", 1L), requests(UsageWindow.MINUTES_5));
        now = 1_000 * HOUR + 5 * MINUTE + 30 * SECOND;
        assertEquals(Map.of(), requests(UsageWindow.MINUTES_5));
        assertEquals(Map.of("a/m", 1L), requests(UsageWindow.HOUR));
        now = 1_000 * HOUR + 65 * MINUTE;
        assertEquals(Map.of(), requests(UsageWindow.HOUR));
        assertEquals(1_000 * HOUR + 5 * MINUTE, book.report(UsageWindow.HOUR).sinceMillis());
        assertEquals(Map.of("a/m", 1L), requests(UsageWindow.DAY));
        now = began + 25 * HOUR;
        assertEquals(Map.of(), requests(UsageWindow.DAY));
        assertEquals(Map.of("a/m", 1L), requests(UsageWindow.TOTAL));
        assertEquals(1_000 * HOUR, book.report(UsageWindow.TOTAL).sinceMillis());
    }

    @Test
    void no_window_begins_before_the_gateway() {
        now += 10 * SECOND;
        assertEquals(1_000 * HOUR, book.report(UsageWindow.DAY).sinceMillis());
    }

    @Test
    void tenants_beyond_those_that_have_rows_are_others() {
        book.count(use("a", "m", 1));
        book.count(use("", "m", 1));
        book.count(use("b", "m", 1));
        book.count(use("c", "m", 1));
        book.count(use("d", "m", 1));
        assertEquals(
                Map.of("a/m", 1L, "b/m", 1L, "/m", 1L, "other/m", 2L), requests(UsageWindow.HOUR));
        assertEquals(List.of("+a", "+", "+b", "+other"), seen);
    }

    @Test
    void a_tenant_without_a_request_for_a_day_makes_room_and_stays_in_the_total() {
        book.count(use("a", "m", 1));
        book.count(use("b", "m", 1));
        now += 23 * HOUR;
        book.count(use("b", "m", 1));
        book.count(use("c", "m", 1));
        now += HOUR;
        book.count(use("d", "m", 1));
        assertEquals(
                Map.of("b/m", 2L, "other/m", 1L, "other/other", 1L, "d/m", 1L),
                requests(UsageWindow.TOTAL));
        assertEquals(List.of("+a", "+b", "+other", "-a", "+d"), seen);
    }

    @Test
    void models_beyond_the_rows_are_others_of_their_tenant() {
        for (int i = 0; i < UsageBook.MOST_ROWS; i++) {
            book.count(use("a", "m" + i, 1));
        }
        book.count(use("a", "more", 1));
        book.count(use("b", "m", 1));
        book.count(use("b", "n", 1));
        Map<String, Long> all = requests(UsageWindow.HOUR);
        assertEquals(UsageBook.MOST_ROWS + 2, all.size());
        assertEquals(1L, all.get("a/other"));
        assertEquals(2L, all.get("b/other"));
    }

    @Test
    void a_clock_that_goes_back_counts_into_the_newest_step() {
        book.count(use("a", "m", 1));
        now -= HOUR;
        book.count(use("a", "m", 1));
        now += HOUR;
        assertEquals(Map.of("a/m", 2L), requests(UsageWindow.MINUTES_5));
    }
}
