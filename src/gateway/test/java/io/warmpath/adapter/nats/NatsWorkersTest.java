package io.warmpath.adapter.nats;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Connection;
import io.nats.client.Nats;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.fleet.source.WorkerFields;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Relays that register over a real nats-server, and a gateway's source that follows them. */
@Timeout(120)
@Tag("slow")
class NatsWorkersTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final NatsNames NAMES = new NatsNames("test", "workers");
    private static final Duration LEASE = Duration.ofSeconds(2);

    /** Whoever is not heard of has left by then. */
    private static final Duration MORE_THAN_A_LEASE = Duration.ofMillis(2500);

    private static final NatsWorkers.Timing TIMING =
            new NatsWorkers.Timing(Duration.ofMillis(50), Duration.ofMillis(700));

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final Map<String, WorkerSpec> fleet = new ConcurrentHashMap<>();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private @TempDir Path folder;
    private NatsServer server;
    private NatsWorkers source;

    /** What a source is told of, and in which order. */
    private final FleetSource.Feed feed =
            new FleetSource.Feed() {
                @Override
                public void put(String key, WorkerSpec spec) {
                    events.add("put " + spec.url().getHost());
                    fleet.put(key, spec);
                }

                @Override
                public void hold(String key, String why) {
                    throw new UnsupportedOperationException("not used by this source");
                }

                @Override
                public void drain(String key, String why) {
                    events.add("drain " + key);
                }

                @Override
                public void remove(String key) {
                    WorkerSpec was = fleet.remove(key);
                    events.add("remove " + (was == null ? key : was.url().getHost()));
                }

                @Override
                public void replace(Map<String, WorkerSpec> all) {
                    throw new IllegalStateException("a bucket tells of changes");
                }
            };

    @BeforeEach
    void start() throws Exception {
        server = NatsServer.start(folder);
        open.push(server);
        source = source("router");
        await().atMost(SOON).until(source::connected);
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable c : open) {
            c.close();
        }
    }

    private NatsWorkers source(String router) {
        NatsWorkers made =
                new NatsWorkers(
                        NatsLink.open(server.options(), "gateway"),
                        NAMES,
                        router,
                        TIMING,
                        System::nanoTime);
        open.push(made);
        made.start(feed);
        return made;
    }

    private static WorkerSpec spec(String host, Object... more) {
        Map<String, Object> record = new HashMap<>(Map.of("url", "http://" + host + ":1"));
        for (int i = 0; i < more.length; i += 2) {
            record.put((String) more[i], more[i + 1]);
        }
        return WorkerFields.spec(record);
    }

    private Registration register(WorkerSpec spec, long id, Duration lease, String process) {
        NatsLink link = NatsLink.open(server.options(), "relay");
        Registration made =
                new Registration(link, NAMES, spec, id, lease, process, System::nanoTime);
        open.push(link);
        open.push(made);
        return made;
    }

    /** As a relay leaves that is killed: its connection ends before it can say so. */
    private void write(long id, byte[] value) throws Exception {
        Connection c = Nats.connect(server.url());
        try {
            c.keyValue(NAMES.workerBucket()).put(NatsNames.worker(id), value);
        } finally {
            c.close();
        }
    }

    private static byte[] written(WorkerSpec spec, Duration lease) {
        return new WorkerRecord(lease, "dead", spec).encoded();
    }

    private void hosts(String... wanted) {
        await().atMost(SOON)
                .untilAsserted(
                        () ->
                                assertEquals(
                                        List.of(wanted),
                                        fleet.values().stream()
                                                .map(s -> s.url().getHost())
                                                .sorted()
                                                .toList()));
    }

    /** Some of the source's own marks have come back, and with them all that was written before. */
    private void turns(Duration during) {
        long end = System.nanoTime() + during.toNanos();
        await().atMost(SOON).until(() -> System.nanoTime() - end > 0 && source.connected());
    }

    @Test
    void a_registered_worker_is_there_as_it_was_written_and_leaves_when_it_is_taken_back() {
        WorkerSpec spec = spec("a", "weight", 2, "labels", Map.of("zone", "x"), "dp_size", 2);
        Registration a = register(spec, 255, Duration.ofMinutes(5), "1");
        hosts("a");
        assertEquals(Map.of("worker.00000000000000ff", spec), fleet);
        assertEquals(1, source.registered());
        long before = System.nanoTime();
        a.close();
        hosts();
        assertTrue(System.nanoTime() - before < Duration.ofMinutes(1).toNanos());
        assertEquals(List.of("put a", "remove a"), events);
        assertEquals(0, source.ranOut());
    }

    @Test
    void whoever_is_not_heard_of_for_a_lease_leaves_and_who_is_stays() throws Exception {
        register(spec("a"), 1, LEASE, "1");
        hosts("a");
        long before = System.nanoTime();
        write(2, written(spec("b"), LEASE));
        hosts("a", "b");
        hosts("a");
        assertTrue(System.nanoTime() - before >= LEASE.toNanos());
        assertEquals(1, source.ranOut());
        turns(MORE_THAN_A_LEASE);
        assertEquals(List.of("put a", "put b", "remove b"), events, "renewals are no changes");
        assertEquals(0, source.outages());
    }

    @Test
    void a_relay_that_is_killed_and_comes_back_within_its_lease_changes_nothing() throws Exception {
        write(1, written(spec("a"), LEASE));
        hosts("a");
        register(spec("a"), 1, LEASE, "2");
        turns(MORE_THAN_A_LEASE);
        assertEquals(List.of("put a"), events);
    }

    @Test
    void without_a_server_nothing_leaves_and_then_every_lease_begins_anew() throws Exception {
        register(spec("a"), 1, LEASE, "1");
        write(2, written(spec("b"), LEASE));
        hosts("a", "b");
        server.kill();
        await().atMost(SOON).until(() -> !source.connected());
        long until = System.nanoTime() + 2 * LEASE.toNanos();
        await().atMost(SOON).until(() -> System.nanoTime() - until > 0);
        assertEquals(List.of("put a", "put b"), sorted(events));
        assertEquals(1, source.outages(), "one outage, however often it is tried");
        server.restart();
        long back = System.nanoTime();
        hosts("a"); // nobody writes for b
        assertTrue(System.nanoTime() - back >= LEASE.toNanos());
        turns(LEASE);
        assertEquals(1, events.stream().filter(e -> e.startsWith("remove")).count());
        assertEquals(1, events.stream().filter("put b"::equals).count(), "b is not told again");
    }

    @Test
    void a_server_that_stands_still_costs_nobody_a_lease() throws Exception {
        register(spec("a"), 1, LEASE, "1");
        hosts("a");
        server.pause();
        long until = System.nanoTime() + 3 * LEASE.toNanos();
        await().atMost(SOON).until(() -> System.nanoTime() - until > 0);
        server.resume();
        turns(MORE_THAN_A_LEASE);
        assertEquals(List.of("put a"), events);
        assertEquals(1, source.outages());
    }

    @Test
    void a_bucket_that_is_removed_is_made_anew_and_the_workers_stay() throws Exception {
        register(spec("a"), 1, LEASE, "1");
        hosts("a");
        Connection c = Nats.connect(server.url());
        try {
            c.keyValueManagement().delete(NAMES.workerBucket());
        } finally {
            c.close();
        }
        await().atMost(SOON).until(() -> source.outages() == 1);
        turns(MORE_THAN_A_LEASE);
        assertEquals(List.of("put a"), events);
    }

    @Test
    void a_bad_record_is_counted_and_changes_nobody() throws Exception {
        register(spec("a"), 1, LEASE, "1");
        hosts("a");
        write(2, written(spec("b"), Duration.ofMinutes(1)));
        hosts("a", "b");
        write(2, "{\"version\":9}".getBytes(StandardCharsets.UTF_8));
        write(3, "{".getBytes(StandardCharsets.UTF_8));
        await().atMost(SOON).until(() -> source.refused() == 2);
        write(2, written(spec("b", "weight", 3), Duration.ofMinutes(1)));
        await().atMost(SOON).until(() -> fleet.values().stream().anyMatch(s -> s.weight() == 3));
        assertEquals(List.of("put a", "put b", "put b"), events);
    }

    @Test
    void of_two_relays_of_one_worker_the_later_one_writes_until_it_is_gone() throws Exception {
        register(spec("a", "weight", 1), 1, LEASE, "1");
        hosts("a");
        Registration second = register(spec("a", "weight", 2), 1, LEASE, "2");
        await().atMost(SOON).until(() -> events.size() == 2);
        turns(MORE_THAN_A_LEASE);
        assertEquals(List.of("put a", "put a"), events, "they do not take turns");
        assertEquals(2, fleet.values().iterator().next().weight());
        second.close();
        await().atMost(SOON)
                .until(() -> events.equals(List.of("put a", "put a", "remove a", "put a")));
        assertEquals(1, fleet.values().iterator().next().weight());
    }

    @Test
    void a_gateway_that_starts_hears_of_all_that_are_registered() throws Exception {
        register(spec("a"), 1, LEASE, "1");
        write(2, written(spec("b"), LEASE));
        hosts("a", "b");
        int before = events.size();
        source("another");
        await().atMost(SOON)
                .until(
                        () ->
                                sorted(events.subList(before, events.size()))
                                        .containsAll(List.of("put a", "put b")));
    }

    private static List<String> sorted(List<String> all) {
        return all.stream().sorted().toList();
    }
}
