package io.warmpath.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.state.SnapshotCatalog.Item;
import io.warmpath.state.SnapshotRules.Stream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SnapshotRulesTest {
    private static final long HOUR = Duration.ofHours(1).toMillis();

    private final SnapshotRules rules = new SnapshotRules(1000, Duration.ofHours(1));
    private final SnapshotCatalog none = SnapshotCatalog.NONE;

    private static SnapshotCatalog at(long... positions) {
        return new SnapshotCatalog(
                1, Arrays.stream(positions).mapToObj(p -> new Item("s" + p, p, 0, 1, 7)).toList());
    }

    @Test
    void messages_that_no_snapshot_covers_are_counted() {
        assertFalse(rules.due(new Stream(7, 0, 0, 0, 0), none, HOUR));
        assertFalse(rules.due(new Stream(7, 999, 1, 999, 0), none, 1));
        assertTrue(rules.due(new Stream(7, 1000, 1, 1000, 0), none, 1));
        assertFalse(rules.due(new Stream(7, 1500, 1, 1500, 0), at(501), 1));
        assertTrue(rules.due(new Stream(7, 1500, 1, 1500, 0), at(500), 1));
        assertFalse(
                rules.due(new Stream(7, 10, 5000, 5009, 0), none, 1), "only what is there counts");
    }

    @Test
    void before_messages_age_away_a_snapshot_is_due_however_few_they_are() {
        Stream few = new Stream(7, 3, 1, 3, 0);
        assertFalse(rules.due(few, none, HOUR / 3 - 1));
        assertTrue(rules.due(few, none, HOUR / 3));
        assertTrue(rules.due(few, at(2), HOUR / 3));
        assertFalse(rules.due(few, at(3), HOUR), "everything is covered");
        assertFalse(new SnapshotRules(1000, Duration.ZERO).due(few, none, 100 * HOUR));
    }

    @Test
    void purged_is_only_what_every_snapshot_covers_and_every_gateway_has_applied() {
        assertEquals(0, SnapshotRules.purgeable(none, Set.of(5L)));
        assertEquals(0, SnapshotRules.purgeable(at(200), Set.of(500L)), "nothing else to fall to");
        assertEquals(100, SnapshotRules.purgeable(at(200, 100), Set.of(500L, 300L)));
        assertEquals(70, SnapshotRules.purgeable(at(200, 100), Set.of(500L, 70L)));
        assertEquals(0, SnapshotRules.purgeable(at(200, 100), Set.of(500L, 0L)), "one has begun");
        assertEquals(100, SnapshotRules.purgeable(at(200, 100), List.of()));
    }

    @Test
    void a_consumer_is_an_orphan_once_its_gateway_has_been_missed_for_long() {
        long[] now = {0};
        OrphanConsumers orphans = new OrphanConsumers(Duration.ofNanos(100), () -> now[0]);
        assertEquals(List.of(), orphans.look(List.of("a", "b"), Set.of("a")));
        now[0] = 99;
        assertEquals(List.of(), orphans.look(List.of("a", "b"), Set.of("a")));
        now[0] = 100;
        assertEquals(List.of("b"), orphans.look(List.of("a", "b"), Set.of("a")));
        assertEquals(List.of(), orphans.look(List.of("a", "b"), Set.of("a", "b")), "it came back");
        now[0] = 150;
        assertEquals(List.of(), orphans.look(List.of("a", "b"), Set.of("a")), "and counts anew");
    }
}
