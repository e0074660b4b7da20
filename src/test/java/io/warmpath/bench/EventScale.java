package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.zmq.ZmqEventFeed;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.state.StateStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Event sources in numbers, and taking an index up from its file. Main, as no JMH mode fits:
 *
 * <pre>
 * EventScale sources COUNT EVENTS_PER_SECOND SECONDS
 * EventScale stream BLOCKS_A_MESSAGE ROUNDS
 * EventScale recover RESIDENCIES DIRECTORY
 * </pre>
 */
final class EventScale {
    private static final int BLOCK = 16;
    private static final int RUN = 64;
    static final int SLOTS = 100;

    private EventScale() {}

    /**
     * @param feedMicros CPU of the feed's thread for one event: what a busy machine cannot stretch
     * @param p50Micros from sending to the batch being counted as applied
     */
    record Load(
            long events, double feedMicros, long p50Micros, long p99Micros, long bytesPerSource) {}

    record Recovery(long residencies, long fileBytes, double saveSeconds, double loadSeconds) {}

    public static void main(String[] args) throws Exception {
        if (args.length == 4 && args[0].equals("sources")) {
            Load l =
                    sources(
                            Integer.parseInt(args[1]),
                            Integer.parseInt(args[2]),
                            Integer.parseInt(args[3]));
            System.out.printf(
                    Locale.ROOT,
                    "%d events, %.2f us of the feed's thread each, event to visible p50 %d us p99 %d"
                            + " us, %d bytes of heap a source%n",
                    l.events,
                    l.feedMicros,
                    l.p50Micros,
                    l.p99Micros,
                    l.bytesPerSource);
        } else if (args.length == 3 && args[0].equals("stream")) {
            Stream s = stream(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
            System.out.printf(
                    Locale.ROOT,
                    "%.2f us of the feed's thread and %.2f us of ZeroMQ's threads a message%n",
                    s.feedMicros,
                    s.socketMicros);
        } else if (args.length == 3 && args[0].equals("recover")) {
            Recovery r = recover(Long.parseLong(args[1]), Path.of(args[2]));
            System.out.printf(
                    Locale.ROOT,
                    "%d residencies, %d bytes, saved in %.2f s, taken up in %.2f s%n",
                    r.residencies,
                    r.fileBytes,
                    r.saveSeconds,
                    r.loadSeconds);
        } else {
            System.err.println(
                    "sources COUNT EVENTS_PER_SECOND SECONDS | stream BLOCKS ROUNDS | recover N"
                            + " DIRECTORY");
            System.exit(2);
        }
    }

    /** Each source sends one-block batches evenly; every thousandth event is timed. */
    static Load sources(int count, int perSecond, int seconds) throws InterruptedException {
        EventCounters counters = new EventCounters();
        try (NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0);
                ZContext context = new ZContext(1)) {
            context.getContext().setMaxSockets(2 * count + 16);
            ZMQ.Socket[] publishers = new ZMQ.Socket[count];
            int[] ports = new int[count];
            for (int i = 0; i < count; i++) {
                publishers[i] = context.createSocket(SocketType.PUB);
                publishers[i].setSndHWM(0);
                ports[i] = publishers[i].bindToRandomPort("tcp://127.0.0.1", 20_000, 60_000);
            }
            long before = heap();
            try (ZmqEventFeed feed =
                    new ZmqEventFeed(
                            index, counters, ZmqEventFeed.Settings.DEFAULT, System::nanoTime)) {
                for (int i = 0; i < count; i++) {
                    feed.subscribe(
                            new EventSource(
                                    "w" + i,
                                    0,
                                    List.of(index.open(0)),
                                    "tcp://127.0.0.1:" + ports[i],
                                    false,
                                    null,
                                    "",
                                    BLOCK));
                }
                long bytes = (heap() - before) / count;
                return load(publishers, perSecond, seconds, counters, bytes);
            }
        }
    }

    private static Load load(
            ZMQ.Socket[] publishers, int perSecond, int seconds, EventCounters counters, long bytes)
            throws InterruptedException {
        long[] sequences = new long[publishers.length];
        // PUB drops what it sends before the subscription has arrived: begin when all have heard.
        long heard = -1;
        for (int quiet = 0; quiet < 3; ) {
            for (int i = 0; i < publishers.length; i++) {
                send(publishers[i], i, sequences);
            }
            Thread.sleep(500);
            quiet = counters.batches() - Math.max(heard, 0) == publishers.length ? quiet + 1 : 0;
            heard = counters.batches();
        }
        Thread feed =
                Thread.getAllStackTraces().keySet().stream()
                        .filter(t -> t.getName().equals("warmpath-kv-events"))
                        .findFirst()
                        .orElseThrow();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long cpu = threads.getThreadCpuTime(feed.threadId());
        long begin = System.nanoTime();
        long total = (long) publishers.length * perSecond * seconds;
        long step = 1_000_000_000L / ((long) publishers.length * perSecond);
        long base = counters.batches();
        List<Long> latencies = new ArrayList<>();
        for (long sent = 0; sent < total; sent++) {
            long due = begin + sent * step;
            while (System.nanoTime() - due < 0) {
                LockSupport.parkNanos(Math.max(1, due - System.nanoTime()));
            }
            int i = (int) (sent % publishers.length);
            send(publishers[i], i, sequences);
            if (sent % 997 == 0) {
                // Sent in order of time, but applied by source: visible when all so far are.
                long at = System.nanoTime();
                while (counters.batches() - base <= sent) {
                    Thread.onSpinWait();
                }
                latencies.add((System.nanoTime() - at) / 1000);
            }
        }
        long used = threads.getThreadCpuTime(feed.threadId()) - cpu;
        latencies.sort(null);
        return new Load(
                total,
                used / 1e3 / total,
                latencies.get(latencies.size() / 2),
                latencies.get(latencies.size() * 99 / 100),
                bytes);
    }

    /**
     * What one message costs in CPU, by thread: the rate of one core is what is left of a second.
     *
     * @param socketMicros of ZeroMQ's own threads, the publisher's too
     */
    record Stream(double feedMicros, double socketMicros) {}

    /** Rounds of {@link EventBench}'s messages from one source; the first third warms up. */
    static Stream stream(int blocks, int rounds) throws InterruptedException {
        byte[][] payloads = EventBench.payloads(blocks);
        EventCounters counters = new EventCounters();
        try (NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0);
                ZContext context = new ZContext(1)) {
            ZMQ.Socket publisher = context.createSocket(SocketType.PUB);
            publisher.setSndHWM(0);
            int port = publisher.bindToRandomPort("tcp://127.0.0.1");
            try (ZmqEventFeed feed =
                    new ZmqEventFeed(
                            index, counters, ZmqEventFeed.Settings.DEFAULT, System::nanoTime)) {
                feed.subscribe(
                        new EventSource(
                                "w",
                                0,
                                List.of(index.open(0)),
                                "tcp://127.0.0.1:" + port,
                                false,
                                null,
                                "",
                                BLOCK));
                long sequence = 0;
                while (counters.batches() == 0) {
                    send(publisher, sequence++, payloads[0]);
                    Thread.sleep(20);
                }
                long unheard = sequence - counters.batches();
                long[] before = {0, 0};
                for (int round = 0; round < rounds; round++) {
                    if (round == rounds / 3) {
                        before = cpu();
                    }
                    for (byte[] payload : payloads) {
                        send(publisher, sequence++, payload);
                    }
                    while (counters.batches() < sequence - unheard) {
                        LockSupport.parkNanos(50_000);
                    }
                }
                long[] after = cpu();
                if (counters.gaps() > 0) {
                    throw new IllegalStateException("messages were lost");
                }
                double messages = (double) (rounds - rounds / 3) * payloads.length;
                return new Stream(
                        (after[0] - before[0]) / 1e3 / messages,
                        (after[1] - before[1]) / 1e3 / messages);
            }
        }
    }

    private static void send(ZMQ.Socket to, long sequence, byte[] payload) {
        to.sendMore(new byte[0]);
        to.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence).array());
        to.send(payload);
    }

    /** Nanoseconds of CPU that the feed's thread and ZeroMQ's have used. */
    private static long[] cpu() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long[] sum = {0, 0};
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().equals("warmpath-kv-events")) {
                sum[0] += threads.getThreadCpuTime(t.threadId());
            } else if (t.getName().contains("iothread")) {
                sum[1] += threads.getThreadCpuTime(t.threadId());
            }
        }
        return sum;
    }

    private static void send(ZMQ.Socket to, int source, long[] sequences) {
        long n = sequences[source]++;
        send(to, n, oneBlock(source, n));
    }

    /** Stores a block in an even batch and removes it again in the next. */
    private static byte[] oneBlock(int source, long n) {
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packArrayHeader(3).packDouble((double) n).packArrayHeader(1);
            boolean stores = n % 2 == 0;
            out.packMapHeader(stores ? 5 : 2).packString("type");
            out.packString(stores ? "BlockStored" : "BlockRemoved");
            out.packString("block_hashes").packArrayHeader(1);
            out.packLong((source + 1L) << 40 | (n & ~1L));
            if (stores) {
                out.packString("parent_block_hash").packNil();
                out.packString("token_ids").packArrayHeader(BLOCK);
                for (int i = 0; i < BLOCK; i++) {
                    out.packInt((int) (n % 100_000) + i);
                }
                out.packString("block_size").packInt(BLOCK);
            }
            out.packInt(0);
            return out.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime r = Runtime.getRuntime();
        return r.totalMemory() - r.freeMemory();
    }

    /** An index of runs of 64 blocks, a fifth of them shared by all slots, through a file. */
    static Recovery recover(long residencies, Path directory) throws Exception {
        Files.createDirectories(directory);
        try (StateStore store = new StateStore(directory)) {
            long held;
            long bytes;
            double saved;
            try (NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0)) {
                List<Label> labels = new ArrayList<>();
                for (int i = 0; i < SLOTS; i++) {
                    labels.add(new Label(index.open(0), i + 1L, 0));
                }
                fill(index, labels, residencies);
                held = index.stats().residencies();
                long at = System.nanoTime();
                bytes = store.save(index, labels, List.of()).bytes();
                saved = (System.nanoTime() - at) / 1e9;
            }
            try (NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0)) {
                long at = System.nanoTime();
                store.load(
                        index,
                        why -> {
                            throw new IllegalStateException(why);
                        });
                double loaded = (System.nanoTime() - at) / 1e9;
                if (index.stats().residencies() != held) {
                    throw new IllegalStateException("not all came back");
                }
                return new Recovery(held, bytes, saved, loaded);
            }
        }
    }

    static void fill(NativePrefixIndex index, List<Label> labels, long residencies) {
        SplittableRandom random = new SplittableRandom(7);
        long done = 0;
        long name = 1;
        while (done < residencies) {
            int[] tokens = random.ints((long) RUN * BLOCK, 0, 150_000).toArray();
            long[] ids = new long[RUN];
            for (int i = 0; i < RUN; i++) {
                ids[i] = name++;
            }
            boolean shared = random.nextInt(5 * SLOTS) == 0;
            int first = random.nextInt(SLOTS);
            for (int s = 0; s < (shared ? SLOTS : 1); s++) {
                WorkerSlot slot = labels.get((first + s) % SLOTS).slot();
                index.apply(
                        List.of(
                                new PrefixEvent.Stored(
                                        slot,
                                        Tier.GPU,
                                        false,
                                        0,
                                        Arrays.copyOf(ids, RUN),
                                        tokens,
                                        BLOCK,
                                        PrefixSpace.NONE)));
                done += RUN;
            }
        }
    }
}
