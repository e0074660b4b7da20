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
    static final int SLOTS = 100;
    private static final int PROMPTS = 1000;
    private static final long PAUSE_NANOS = 200_000;

    private EventScale() {}

    record Recovery(long residencies, long fileBytes, double saveSeconds, double loadSeconds) {}

    public static void main(String[] args) throws Exception {
        if (args.length == 4 && args[0].equals("sources")) {
            System.out.println(
                    SourceLatency.measure(
                            Integer.parseInt(args[1]),
                            Integer.parseInt(args[2]),
                            Integer.parseInt(args[3])));
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
    static List<int[]> fill(NativePrefixIndex index, List<Label> labels, long residencies) {
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
