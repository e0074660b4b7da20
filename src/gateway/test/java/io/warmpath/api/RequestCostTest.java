package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.netty.util.ResourceLeakDetector;
import io.warmpath.api.connection.DirectSocket;
import io.warmpath.bench.WireShapes;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.migration.MigrationOptions;
import io.warmpath.net.server.ClientLimits;
import io.warmpath.net.server.ServerConnections;
import io.warmpath.telemetry.UsageTracing;
import io.warmpath.upstream.UpstreamOptions;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What a streamed request costs the event loops, in bytes, flushes and system calls, kept from
 * rising.
 *
 * <p>All are counted, not timed, so that a busy machine makes no difference. When one of them has
 * risen for a good reason, write the new number here and say in the commit why.
 */
@Tag("measured")
@Tag("slow")
class RequestCostTest {
    /**
     * Allocated by the event loops per request (5 kB, 34 events), with the test's own router and
     * index: measured, and the most that is let pass.
     */
    private static final long MEASURED_BYTES = 19_700;

    /** More of it where the channel {@code usage} is on. */
    private static final long USAGE_BYTES = 600;

    /**
     * By the event loops per request, when client and engine send all in one write each: read and
     * write on both sides, and waits between them.
     */
    private static final double MEASURED_CALLS = 6.2;

    /** Of the JVM and of threads that the test's tokenizer runs on. */
    private static final Set<String> OTHERS = Set.of("futex", "mmap", "munmap", "madvise");

    private static final int CALL_REQUESTS = 400;

    private static final double TOLERANCE = 1.1;
    private static final int WARM_REQUESTS = 3_000;
    private static final int REQUESTS = 1_000;

    private Gateway gateway;
    private StubEngine engine;
    private byte[] answer;

    private ResourceLeakDetector.Level level;

    @BeforeEach
    void start() throws Exception {
        // The other tests' record of every touch of a buffer would be most of what is counted.
        level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
        ServerConnections.limit(
                ClientLimits.of(
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(20),
                        Duration.ofSeconds(75),
                        1_000,
                        "",
                        System::nanoTime));
        // Streams are kept for going on elsewhere, as by default.
        gateway =
                new Gateway(EnginePath.PAST, UpstreamOptions.defaults(), MigrationOptions.DEFAULTS);
        // As many as the test's tokenizer predicts: another length would be a drift, and looked
        // into.
        byte[] stream =
                new String(WireShapes.stream(32), StandardCharsets.UTF_8)
                        .replace("\"prompt_tokens\":1030", "\"prompt_tokens\":40")
                        .getBytes(StandardCharsets.UTF_8);
        String framed =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding:"
                        + " chunked\r\n\r\n"
                        + Integer.toHexString(stream.length)
                        + "\r\n"
                        + new String(stream, StandardCharsets.UTF_8)
                        + "\r\n0\r\n\r\n";
        answer = framed.getBytes(StandardCharsets.UTF_8);
        engine = new StubEngine(call -> call.send(answer));
        gateway.fleet.workers(
                List.of(Gateway.worker(0, engine.url(), EngineKind.SGLANG, WorkerState.READY, 1)));
    }

    @AfterEach
    void stop() throws Exception {
        ServerConnections.limit(null);
        ResourceLeakDetector.setLevel(level);
        gateway.close();
        engine.close();
        assertTrue(engine.failures.isEmpty(), () -> "engine: " + engine.failures);
    }

    @Test
    void a_streamed_request_allocates_no_more_than_it_did() throws Exception {
        assertAllocates(MEASURED_BYTES);
    }

    @Test
    void a_usage_record_of_it_is_two_small_objects() throws Exception {
        AtomicLong told = new AtomicLong();
        gateway.tracing = new UsageTracing(usage -> told.incrementAndGet(), InstantSource.system());
        assertAllocates(MEASURED_BYTES + USAGE_BYTES);
        assertEquals(WARM_REQUESTS + REQUESTS, told.get());
    }

    private void assertAllocates(long measured) throws Exception {
        String ask = Gateway.ASK.replace("hi", "lorem ipsum dolor sit amet ".repeat(200).strip());
        try (RawClient client = new RawClient(gateway.port)) {
            ask(client, ask, WARM_REQUESTS);
            long before = allocatedByLoops();
            ask(client, ask, REQUESTS);
            long perRequest = (allocatedByLoops() - before) / REQUESTS;
            assertTrue(perRequest > 1_000, "nothing is counted");
            assertTrue(
                    perRequest <= measured * TOLERANCE,
                    () -> perRequest + " bytes per request; " + measured + " were measured");
        }
    }

    @Test
    void what_an_engine_sends_at_once_is_one_flush_to_the_client() throws Exception {
        gateway.countsFlushes = true;
        try (RawClient client = new RawClient(gateway.port)) {
            ask(client, Gateway.ASK, 1);
            long before = gateway.flushes.get();
            ask(client, Gateway.ASK, 20);
            assertEquals(20, gateway.flushes.get() - before);
        }
    }

    @Test
    void what_an_engine_sends_between_head_and_end_goes_straight_to_the_socket() throws Exception {
        gateway.close();
        gateway = new Gateway(EnginePath.RAW);
        gateway.fleet.workers(
                List.of(Gateway.worker(0, engine.url(), EngineKind.SGLANG, WorkerState.READY, 1)));
        try (RawClient client = new RawClient(gateway.port)) {
            ask(client, Gateway.ASK, 1);
            assertTrue(DirectSocket.isUsed(gateway.client));
        }
        gateway.countsFlushes = true;
        try (RawClient client = new RawClient(gateway.port)) {
            ask(client, Gateway.ASK, 1);
            assertFalse(DirectSocket.isUsed(gateway.client), "a control");
        }
    }

    @Test
    void a_streamed_request_makes_no_more_system_calls_than_it_did() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            ask(client, Gateway.ASK, 100); // connections are open, buffers and timers have settled
            try (SystemCalls calls = SystemCalls.ofThreads("vert.x-eventloop-thread")) {
                ask(client, Gateway.ASK, CALL_REQUESTS);
                Map<String, Long> counted = calls.end();
                counted.keySet().removeAll(OTHERS);
                double perRequest =
                        counted.values().stream().mapToLong(n -> n).sum() / (double) CALL_REQUESTS;
                assertTrue(counted.containsKey("recvfrom"), () -> "nothing is counted " + counted);
                assertTrue(
                        perRequest <= MEASURED_CALLS * TOLERANCE,
                        () -> perRequest + " calls a request (" + counted + ")");
            }
        }
    }

    private void ask(RawClient client, String json, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            if (i % 50 == 0) {
                gateway.forget();
            }
            client.sendPost(Gateway.CHAT, json);
            assertEquals(200, client.readAnswer().status());
        }
    }

    private static long allocatedByLoops() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] loops =
                Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                        .filter(t -> t != null && t.getThreadName().contains("eventloop"))
                        .mapToLong(java.lang.management.ThreadInfo::getThreadId)
                        .toArray();
        assertTrue(loops.length > 0, "no event loop is found by its name");
        return Arrays.stream(threads.getThreadAllocatedBytes(loops)).sum();
    }
}
