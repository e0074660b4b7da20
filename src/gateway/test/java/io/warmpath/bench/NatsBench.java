package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.nats.NatsEventFeed;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.adapter.nats.Relay;
import io.warmpath.adapter.zmq.KvEventDecoder;
import io.warmpath.events.BatchSink;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.events.MalformedBatchException;
import io.warmpath.prefix.PrefixIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One event message of one engine, from a relay's hands through a nats-server with a file store to
 * the native index; relay and gateway in this process, the server beside it, all on this machine.
 * The messages are those of {@link EventBench}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class NatsBench {
    private static final long RING = 256L << 20;

    @Param({"1", "64"})
    public int blocks;

    private byte[][] payloads = {};
    private final EventCounters counters = new EventCounters();
    private Path folder;
    private NatsServer server;
    private NatsLink link;
    private PrefixIndex index;
    private Relay relay;
    private NatsEventFeed feed;
    private BatchSink engine;
    private long sequence;

    @Setup
    public void open() throws IOException, InterruptedException {
        payloads = EventBench.payloads(blocks);
        folder = Files.createTempDirectory("nats-bench");
        server = NatsServer.start(folder);
        link = NatsLink.open(server.options(), "bench");
        while (!link.connected()) {
            Thread.sleep(1);
        }
        NatsNames names = new NatsNames("bench", "backend");
        index = new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
        EventSource source =
                new EventSource("w", 0, List.of(index.open(0)), "", false, null, "", 16, 1);
        relay =
                new Relay(
                        link,
                        names,
                        new Relay.Options(RING, Duration.ofMinutes(2)),
                        System::nanoTime,
                        System::currentTimeMillis,
                        () -> ThreadLocalRandom.current().nextLong(),
                        s -> true);
        feed =
                new NatsEventFeed(
                        link,
                        names,
                        index,
                        new KvEventDecoder(),
                        counters,
                        new NatsEventFeed.Settings(
                                "bench",
                                Duration.ofMinutes(2),
                                Duration.ofSeconds(5),
                                Duration.ofHours(1),
                                Duration.ofHours(1),
                                Duration.ofSeconds(30)),
                        0,
                        System::nanoTime);
        feed.subscribe(source);
        engine = relay.sink(source);
    }

    @TearDown
    public void close() throws IOException {
        relay.close();
        feed.close();
        link.close();
        server.close();
        index.close();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path p : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(p);
            }
        }
        if (counters.gaps() > 0 || relay.overflowed() > 0) {
            throw new IllegalStateException("messages were lost: the figures count too many");
        }
    }

    @Benchmark
    @OperationsPerInvocation(EventBench.MESSAGES)
    public long throughTheStream() throws MalformedBatchException {
        for (byte[] payload : payloads) {
            engine.take(sequence++, payload);
        }
        while (counters.batches() < sequence) {
            LockSupport.parkNanos(50_000);
        }
        return counters.batches();
    }
}
