package io.warmpath.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheus.PrometheusConfig;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Our metrics under others' names say the same. */
@SuppressWarnings("deprecation") // Quarkus still has this registry
class MetricAliasesTest {
    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @BeforeEach
    void addNames() {
        MetricAliases.addTo(registry.getPrometheusRegistry());
    }

    private List<String> lines(String start) {
        return registry.scrape().lines().filter(l -> l.startsWith(start)).toList();
    }

    @Test
    void a_counter_is_the_same_under_both_names_with_its_labels() {
        Counter.builder("warmpath.requests").tag("outcome", "ok").register(registry).increment(3);
        Counter.builder("warmpath.requests")
                .tag("outcome", "cancelled")
                .register(registry)
                .increment(2);
        assertEquals(
                Set.of(
                        "dynamo_frontend_requests_total{outcome=\"ok\",} 3.0",
                        "dynamo_frontend_requests_total{outcome=\"cancelled\",} 2.0"),
                Set.copyOf(lines("dynamo_frontend_requests_total")));
        assertEquals(
                List.of("dynamo_frontend_disconnected_clients_total{outcome=\"cancelled\",} 2.0"),
                lines("dynamo_frontend_disconnected_clients"));
        assertEquals(1, lines("# TYPE dynamo_frontend_requests").size());
    }

    @Test
    void a_histogram_keeps_its_buckets_and_turns_seconds_into_milliseconds() {
        Timer timer =
                Timer.builder("warmpath.match")
                        .serviceLevelObjectives(Duration.ofNanos(50_000), Duration.ofMillis(1))
                        .register(registry);
        timer.record(Duration.ofNanos(20_000));
        timer.record(Duration.ofNanos(400_000));
        String name = "dynamo_router_overhead_indexer_find_matches_ms";
        assertEquals(
                List.of(
                        name + "_bucket{le=\"0.05\",} 1.0",
                        name + "_bucket{le=\"1.0\",} 2.0",
                        name + "_bucket{le=\"+Inf\",} 2.0"),
                lines(name + "_bucket"));
        assertEquals(List.of(name + "_count 2.0"), lines(name + "_count"));
        assertEquals(
                0.42,
                Double.parseDouble(lines(name + "_sum").getFirst().substring(name.length() + 5)),
                1e-9);
    }

    @Test
    void nothing_is_served_for_what_does_not_exist() {
        assertEquals(List.of(), lines("dynamo_"));
    }

    @Test
    void every_name_stands_for_a_metric_that_exists() throws IOException {
        Set<String> documented =
                Files.readString(Path.of("src/docs/reference/metrics.md"))
                        .lines()
                        .filter(l -> l.startsWith("| `"))
                        .map(l -> l.substring(3, l.indexOf('`', 3)))
                        .map(n -> n.endsWith("_total") ? n.substring(0, n.length() - 6) : n)
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> names = new TreeSet<>();
        for (MetricAliases.Alias a : MetricAliases.ALL) {
            assertTrue(documented.contains(a.ours()), a.name() + " stands for " + a.ours());
            assertTrue(names.add(a.name()), "twice: " + a.name());
        }
    }
}
