package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.zmq.KvEventDecoder;
import io.warmpath.adapter.zmq.ZmqEventFeed;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceSession;
import io.warmpath.prefix.PrefixIndex;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
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
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * One event message of one engine, from its bytes to the native index: half of them store {@code
 * blocks} blocks of 16 tokens, half remove those of an earlier message, so that the index stays of
 * one size. {@code throughSockets} adds the publisher's sending and ZeroMQ over TCP on this
 * machine; {@code handedOver} is decoding and applying alone.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class EventBench {
    static final int MESSAGES = 2000;
    private static final int BLOCK = 16;
    private static final int PROMPTS = MESSAGES / 2;

    @Param({"1", "64"})
    public int blocks;

    private byte[][] payloads = {};
    private final EventCounters counters = new EventCounters();
    private final EventCounters besideCounters = new EventCounters();
    private PrefixIndex index;
    private ZContext context;
    private ZMQ.Socket publisher;
    private ZmqEventFeed feed;
    private SourceSession session;
    private long sequence;
    private long unheard;
    private long handedOver;

    @Setup
    public void open() throws InterruptedException {
        payloads = payloads(blocks);
        index = new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
        session =
                new SourceSession(
                        source("inproc://none"),
                        index,
                        new KvEventDecoder(),
                        besideCounters,
                        null,
                        (before, now) -> {},
                        new SourceSession.Timing(1, Long.MAX_VALUE / 4, Long.MAX_VALUE / 4),
                        System::nanoTime);
        context = new ZContext(1);
        publisher = context.createSocket(SocketType.PUB);
        publisher.setSndHWM(0);
        int port = publisher.bindToRandomPort("tcp://127.0.0.1");
        feed = new ZmqEventFeed(index, counters, ZmqEventFeed.Settings.DEFAULT, System::nanoTime);
        feed.subscribe(source("tcp://127.0.0.1:" + port));
        // PUB drops what it sends before the subscription has arrived.
        while (counters.batches() == 0) {
            send(payloads[0]);
            Thread.sleep(1);
        }
        long applied = -1;
        while (applied != counters.batches()) {
            applied = counters.batches();
            Thread.sleep(200);
        }
        unheard = sequence - applied;
    }

    private EventSource source(String endpoint) {
        return new EventSource("w", 0, List.of(index.open(0)), endpoint, false, null, "", BLOCK);
    }

    @TearDown
    public void close() {
        feed.close();
        context.close();
        index.close();
        if (counters.gapsLost() > 0 || besideCounters.gaps() > 0) {
            throw new IllegalStateException("messages were lost: the figures count too many");
        }
    }

    private void send(byte[] payload) {
        publisher.sendMore(new byte[0]);
        publisher.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence++).array());
        publisher.send(payload);
    }

    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public long throughSockets() {
        for (byte[] payload : payloads) {
            send(payload);
        }
        while (counters.batches() < sequence - unheard) {
            LockSupport.parkNanos(50_000);
        }
        return counters.batches();
    }

    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public long handedOver() {
        for (byte[] payload : payloads) {
            session.live(handedOver++, payload);
        }
        return handedOver;
    }

    /** A cycle of messages: every second one removes what was stored half a cycle ago. */
    static byte[][] payloads(int blocks) {
        SplittableRandom random = new SplittableRandom(1);
        byte[][] payloads = new byte[MESSAGES][];
        for (int i = 0; i < PROMPTS; i++) {
            payloads[2 * i] = stored(i, blocks, random);
            payloads[2 * i + 1] = removed((i + PROMPTS / 2) % PROMPTS, blocks);
        }
        return payloads;
    }

    private static long id(int prompt, int block) {
        return ((long) prompt + 1) << 20 | block;
    }

    private static byte[] stored(int prompt, int blocks, SplittableRandom random) {
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packArrayHeader(3).packDouble(prompt).packArrayHeader(1);
            out.packMapHeader(6).packString("type").packString("BlockStored");
            ids(prompt, blocks, out);
            out.packString("parent_block_hash").packNil();
            out.packString("token_ids").packArrayHeader(blocks * BLOCK);
            for (int i = 0; i < blocks * BLOCK; i++) {
                out.packInt(random.nextInt(150_000));
            }
            out.packString("block_size").packInt(BLOCK);
            out.packString("medium").packString("GPU");
            out.packInt(0);
            return out.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] removed(int prompt, int blocks) {
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packArrayHeader(3).packDouble(prompt).packArrayHeader(1);
            out.packMapHeader(3).packString("type").packString("BlockRemoved");
            ids(prompt, blocks, out);
            out.packString("medium").packString("GPU");
            out.packInt(0);
            return out.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void ids(int prompt, int blocks, MessageBufferPacker out) throws IOException {
        out.packString("block_hashes").packArrayHeader(blocks);
        for (int i = 0; i < blocks; i++) {
            out.packLong(id(prompt, i));
        }
    }
}
