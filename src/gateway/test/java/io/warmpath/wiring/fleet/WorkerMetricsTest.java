package io.warmpath.wiring.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.prefix.WorkerSlot;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which models have series of their own. */
class WorkerMetricsTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final WorkerMetrics metrics = new WorkerMetrics(new FlowMetrics(registry));

    private static Worker worker(int id, String... models) {
        return Worker.builder(id, "w" + id, URI.create("http://10.0.0." + id + ":1"))
                .models(Set.copyOf(Arrays.asList(models)))
                .ranks(List.of(new Worker.Rank(0, new WorkerSlot(id))))
                .build();
    }

    private Set<String> models() {
        return registry.getMeters().stream()
                .map(m -> m.getId().getTag("model"))
                .filter(Objects::nonNull)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void a_model_that_nobody_serves_any_more_has_no_series() {
        metrics.added(worker(1, "a", "b"));
        metrics.added(worker(2, "b"));
        assertEquals(Set.of("a", "b"), models());
        metrics.changed(worker(1, "a", "b"), worker(1, "c", "b"), "");
        assertEquals(Set.of("b", "c"), models());
        metrics.removed(worker(1, "c", "b"));
        assertEquals(Set.of("b"), models());
        metrics.removed(worker(2, "b"));
        assertEquals(Set.of(), models());
        metrics.added(worker(3, "a"));
        assertEquals(Set.of("a"), models(), "it comes back");
    }

    @Test
    void adapters_that_come_and_go_leave_nothing_behind() {
        for (int round = 0; round < 20; round++) {
            int from = round * 50;
            String[] names =
                    IntStream.range(from, from + 50).mapToObj(i -> "m" + i).toArray(String[]::new);
            metrics.added(worker(1, names));
            assertEquals(50, models().size());
            metrics.removed(worker(1, names));
        }
        assertEquals(Set.of(), models());
    }
}
