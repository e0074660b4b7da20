package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.zmq.ZmqEventFeed;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Event sources in numbers, taking an index up from its file, and look-ups beside the writing of
 * one. Main, as no JMH mode fits:
 *
 * <pre>
 * EventScale sources COUNT EVENTS_PER_SECOND SECONDS
 * EventScale stream BLOCKS_A_MESSAGE ROUNDS
 * EventScale recover RESIDENCIES DIRECTORY
 * EventScale beside RESIDENCIES SAVES DIRECTORY
 * </pre>
 */
final class EventScale {
    private static final int BLOCK = 16;
    private static final int RUN = 64;
    private static final int SLOTS = 100;
    private static final int MESSAGE_BYTES = 1 << 20;
    private static final int WARM_UP = 100;
    private static final int PROMPTS = 1000;
    private static final long PAUSE_NANOS = 200_000;

    /** One event in so many is timed; no multiple of the sources' number. */
    private static final int TIMED = 997;

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
                    "%.2f us of the feed's thread and %.2f us of the publisher's ZeroMQ a message%n",
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
        } else if (args.length == 4 && args[0].equals("beside")) {
            Beside b = beside(Long.parseLong(args[1]), Integer.parseInt(args[2]), Path.of(args[3]));
            System.out.printf(
                    Locale.ROOT,
                    "%d residencies, %.2f s a snapshot; a look-up of %d blocks alone p50 %d us p99"
                            + " %d us, beside p50 %d us p99 %d us%n",
                    b.residencies,
                    b.saveSeconds,
                    RUN,
                    b.alone[0],
                    b.alone[1],
                    b.beside[0],
                    b.beside[1]);
        } else {
            System.err.println(
                    "sources COUNT EVENTS_PER_SECOND SECONDS | stream BLOCKS ROUNDS | recover N"
                            + " DIRECTORY | beside N SAVES DIRECTORY");
            System.exit(2);
        }
    }

    /** Each source sends one-block batches evenly; every thousandth event is timed. */
    static Load sources(int count, int perSecond, int seconds) throws Exception {
        EventCounters counters = new EventCounters();
        WirePublisher[] publishers = new WirePublisher[count];
        try (NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0)) {
            ByteBuffer out = ByteBuffer.allocateDirect(MESSAGE_BYTES);
            for (int i = 0; i < count; i++) {
                publishers[i] = new WirePublisher(out);
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
                                    "tcp://127.0.0.1:" + publishers[i].port(),
                                    false,
                                    null,
                                    "",
                                    BLOCK));
                }
                for (WirePublisher p : publishers) {
                    p.join();
                }
                return load(publishers, perSecond, seconds, counters, before);
            }
        } finally {
            for (WirePublisher p : publishers) {
                if (p != null) {
                    p.close();
                }
            }
        }
    }

    /**
     * @param heapBefore bytes before the sources were subscribed
     */
    private static Load load(
            WirePublisher[] publishers,
            int perSecond,
            int seconds,
            EventCounters counters,
            long heapBefore)
            throws IOException {
        long[] sequences = new long[publishers.length];
        // Some rounds first: connections, and compiled code.
        for (int round = 0; round < WARM_UP; round++) {
            for (int i = 0; i < publishers.length; i++) {
                send(publishers[i], i, sequences);
            }
            while (counters.batches() < (round + 1L) * publishers.length) {
                LockSupport.parkNanos(50_000);
            }
        }
        long bytes = (heap() - heapBefore) / publishers.length;
        long base = counters.batches();
        long cpu = cpu()[0];
        long begin = System.nanoTime();
        long total = (long) publishers.length * perSecond * seconds;
        long step = 1_000_000_000L / ((long) publishers.length * perSecond);
        List<Long> latencies = new ArrayList<>();
        for (long sent = 0; sent < total; sent++) {
            long due = begin + sent * step;
            while (System.nanoTime() - due < 0) {
                LockSupport.parkNanos(Math.max(1, due - System.nanoTime()));
            }
            int i = (int) (sent % publishers.length);
            send(publishers[i], i, sequences);
            if (sent % TIMED == 0) {
                // Sent in order of time, but applied by source: visible when all so far are.
                long at = System.nanoTime();
                while (counters.batches() - base <= sent) {
                    Thread.onSpinWait();
                }
                latencies.add((System.nanoTime() - at) / 1000);
            }
        }
        long used = cpu()[0] - cpu;
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
     * @param socketMicros of the threads that ZeroMQ has for the publisher
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

    /** Nanoseconds of CPU that the feed's thread and the publisher's ZeroMQ have used. */
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

    private static void send(WirePublisher to, int source, long[] sequences) throws IOException {
        long n = sequences[source]++;
        to.send(n, oneBlock(source, n));
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

    /**
     * Look-ups while snapshots are written, and without.
     *
     * @param alone p50 and p99 in microseconds
     */
    record Beside(long residencies, double saveSeconds, long[] alone, long[] beside) {}

    /** Five thousand look-ups a second at most, as of a busy gateway; as many seconds of each. */
    static Beside beside(long residencies, int saves, Path directory) throws Exception {
        Files.createDirectories(directory);
        try (StateStore store = new StateStore(directory);
                NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0)) {
            List<Label> labels = new ArrayList<>();
            for (int i = 0; i < SLOTS; i++) {
                labels.add(new Label(index.open(0), i + 1L, 0));
            }
            List<int[]> prompts = fill(index, labels, residencies);
            lookUps(index, prompts, Duration.ofMillis(500));
            AtomicBoolean saved = new AtomicBoolean();
            FutureTask<Double> writing =
                    new FutureTask<>(
                            () -> {
                                long at = System.nanoTime();
                                for (int i = 0; i < saves; i++) {
                                    store.save(index, labels, List.of());
                                }
                                saved.set(true);
                                return (System.nanoTime() - at) / 1e9;
                            });
            Thread writer = Thread.ofPlatform().start(writing);
            long[] beside = lookUps(index, prompts, saved::get);
            writer.join();
            double seconds = writing.get();
            long[] alone = lookUps(index, prompts, Duration.ofNanos((long) (seconds * 1e9)));
            return new Beside(index.stats().residencies(), seconds / saves, alone, beside);
        }
    }

    private static long[] lookUps(NativePrefixIndex index, List<int[]> prompts, Duration time) {
        long end = System.nanoTime() + time.toNanos();
        return lookUps(index, prompts, () -> System.nanoTime() - end >= 0);
    }

    private static long[] lookUps(
            NativePrefixIndex index, List<int[]> prompts, BooleanSupplier enough) {
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i == 0 || !enough.getAsBoolean(); i++) {
            int[] prompt = prompts.get(i % prompts.size());
            long at = System.nanoTime();
            PrefixMatch match =
                    index.match(new PrefixQuery(prompt, prompt.length, BLOCK, PrefixSpace.NONE));
            nanos.add(System.nanoTime() - at);
            if (match.size() == 0) {
                throw new IllegalStateException("a prompt that was stored is not known");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        nanos.sort(null);
        return new long[] {
            nanos.get(nanos.size() / 2) / 1000, nanos.get(nanos.size() * 99 / 100) / 1000
        };
    }

    /** Some of the prompts that are held now. */
    private static List<int[]> fill(NativePrefixIndex index, List<Label> labels, long residencies) {
        List<int[]> prompts = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(7);
        long done = 0;
        long name = 1;
        while (done < residencies) {
            int[] tokens = random.ints((long) RUN * BLOCK, 0, 150_000).toArray();
            long[] ids = new long[RUN];
            for (int i = 0; i < RUN; i++) {
                ids[i] = name++;
            }
            if (prompts.size() < PROMPTS) {
                prompts.add(tokens);
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
        return prompts;
    }
}
