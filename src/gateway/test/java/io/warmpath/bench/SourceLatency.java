package io.warmpath.bench;

import com.sun.management.ThreadMXBean;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.zmq.ZmqEventFeed;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.prefix.ApplyResult;
import io.warmpath.prefix.HybridSlots;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.prefix.WorkerSlot;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/**
 * How long each event of many engines takes from its engine's write to the index, and where the
 * feed's thread was meanwhile. The engines are another process; every event is timed, on the feed's
 * thread as soon as the index has it, so that the measure neither stops the load nor waits for a
 * core of its own.
 */
final class SourceLatency {
    private static final int BLOCK = 16;

    /** Of the time before it counts: connections, and compiled code. */
    private static final int WARM_UP_SECONDS = 4;

    private SourceLatency() {}

    /**
     * @param feedMicros CPU of the feed's thread for one event: what a busy machine cannot stretch
     * @param micros event to visible, sorted
     * @param waited part of the time for which the feed's thread was ready and had no core
     * @param lateMicros by which the engines missed their own plan: p99 and most
     * @param gcMillis of all pauses
     */
    record Result(
            double feedMicros,
            double feedBytes,
            long[] micros,
            double waited,
            String lateMicros,
            long gcCount,
            long gcMillis,
            long bytesPerSource) {
        long micros(double part) {
            return micros[(int) Math.min(micros.length - 1, (long) (micros.length * part))];
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%d events, %.2f us and %.0f bytes of the feed's thread each, which waited for a"
                            + " core for %.1f%% of the time; event to visible p50 %d us p90 %d us"
                            + " p99 %d us p99.9 %d us most %d us; engines late p99 and most %s us; %d"
                            + " collections, %d ms; %d bytes of heap a source",
                    micros.length,
                    feedMicros,
                    feedBytes,
                    100 * waited,
                    micros(0.5),
                    micros(0.9),
                    micros(0.99),
                    micros(0.999),
                    micros[micros.length - 1],
                    lateMicros,
                    gcCount,
                    gcMillis,
                    bytesPerSource);
        }
    }

    static Result measure(int count, int perSecond, int seconds) throws Exception {
        return measure(count, perSecond, WARM_UP_SECONDS, seconds);
    }

    static Result measure(int count, int perSecond, int warmUpSeconds, int seconds)
            throws Exception {
        Path file = Files.createTempFile("warmpath-", ".stamps");
        int first = count * perSecond * warmUpSeconds;
        int total = first + count * perSecond * seconds;
        LongBuffer sentAt = EventPublishers.stamps(file, total);
        Process engines =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-cp",
                                System.getProperty("java.class.path"),
                                EventPublishers.class.getName(),
                                Integer.toString(count),
                                Integer.toString(perSecond),
                                Integer.toString(warmUpSeconds),
                                Integer.toString(seconds),
                                file.toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        EventCounters counters = new EventCounters();
        try (NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0)) {
            BufferedReader said = engines.inputReader();
            String[] ports = said.readLine().split(" ", -1);
            long before = heap();
            Stamping stamping = new Stamping(index, sentAt, count, first, total);
            try (ZmqEventFeed feed =
                    new ZmqEventFeed(
                            stamping, counters, ZmqEventFeed.Settings.DEFAULT, System::nanoTime)) {
                for (int i = 0; i < count; i++) {
                    feed.subscribe(
                            new EventSource(
                                    "w" + i,
                                    0,
                                    List.of(index.open(0)),
                                    "tcp://127.0.0.1:" + ports[i + 1],
                                    false,
                                    null,
                                    "",
                                    BLOCK));
                }
                long heap = (heap() - before) / count;
                engines.getOutputStream().write('\n');
                engines.getOutputStream().flush();
                String late = said.readLine();
                stamping.done.await();
                if (counters.gaps() > 0) {
                    throw new IllegalStateException("events were lost");
                }
                return stamping.result(late.substring(late.indexOf(' ') + 1), heap);
            }
        } finally {
            engines.destroyForcibly().waitFor();
            Files.delete(file);
        }
    }

    static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime r = Runtime.getRuntime();
        return r.totalMemory() - r.freeMemory();
    }

    /** What the feed's thread, and the process, have used so far. */
    private record Used(long at, long cpu, long bytes, long waited, long gcCount, long gcMillis) {
        /** Of the calling thread. */
        static Used now() {
            long count = 0;
            long millis = 0;
            for (GarbageCollectorMXBean gc : ManagementFactory.getGarbageCollectorMXBeans()) {
                count += gc.getCollectionCount();
                millis += gc.getCollectionTime();
            }
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            return new Used(
                    System.nanoTime(),
                    threads.getCurrentThreadCpuTime(),
                    threads.getCurrentThreadAllocatedBytes(),
                    noCore(),
                    count,
                    millis);
        }

        /** Nanoseconds for which the thread could have run. */
        private static long noCore() {
            try {
                String[] words =
                        Files.readString(Path.of("/proc/thread-self/schedstat")).split(" ", -1);
                return Long.parseLong(words[1]);
            } catch (IOException e) {
                return 0; // not Linux
            }
        }
    }

    /** Notes when the index has an event. On the feed's thread but for {@link #result}. */
    private static final class Stamping implements PrefixIndex {
        private final PrefixIndex index;
        private final LongBuffer sentAt;
        private final int sources;
        private final int first;
        private final int total;
        private final long[] nanos;
        private final CountDownLatch done = new CountDownLatch(1);
        private int applied;
        private Used begin = new Used(0, 0, 0, 0, 0, 0);
        private volatile Used end = begin;

        Stamping(PrefixIndex index, LongBuffer sentAt, int sources, int first, int total) {
            this.index = index;
            this.sentAt = sentAt;
            this.sources = sources;
            this.first = first;
            this.total = total;
            this.nanos = new long[total - first];
        }

        @Override
        public ApplyResult apply(List<? extends PrefixEvent> events) {
            ApplyResult result = index.apply(events);
            long now = System.nanoTime();
            for (PrefixEvent e : events) {
                int k =
                        switch (e) {
                            case PrefixEvent.Stored s -> event(s.hashes()[0], true);
                            case PrefixEvent.Removed r -> event(r.hashes()[0], false);
                            case PrefixEvent.Cleared c -> throw new IllegalStateException("" + c);
                        };
                if (k >= first) {
                    nanos[k - first] = now - sentAt.get(k);
                }
                if (applied++ == first) {
                    begin = Used.now();
                } else if (applied == total) {
                    end = Used.now();
                    done.countDown();
                }
            }
            return result;
        }

        private int event(long hash, boolean stores) {
            return EventPublishers.event(hash, stores, sources);
        }

        Result result(String late, long bytesPerSource) {
            Used e = end;
            Arrays.sort(nanos);
            return new Result(
                    (e.cpu - begin.cpu) / 1e3 / nanos.length,
                    (double) (e.bytes - begin.bytes) / nanos.length,
                    Arrays.stream(nanos).map(n -> n / 1000).toArray(),
                    (double) (e.waited - begin.waited) / (e.at - begin.at),
                    late,
                    e.gcCount - begin.gcCount,
                    e.gcMillis - begin.gcMillis,
                    bytesPerSource);
        }

        @Override
        public WorkerSlot open(int domain) {
            return index.open(domain);
        }

        @Override
        public void close(WorkerSlot slot) {
            index.close(slot);
        }

        @Override
        public WorkerSlot openApproximate(int domain) {
            return index.openApproximate(domain);
        }

        @Override
        public long decide(WorkerSlot slot, PrefixQuery prompt, long nowMillis) {
            return index.decide(slot, prompt, nowMillis);
        }

        @Override
        public long expire(long nowMillis) {
            return index.expire(nowMillis);
        }

        @Override
        public PrefixMatch match(PrefixQuery query) {
            return index.match(query);
        }

        @Override
        public HybridSlots hybrids() {
            return index.hybrids();
        }

        @Override
        public SlotBlocks slotBlocks() {
            return index.slotBlocks();
        }

        @Override
        public IndexStats stats() {
            return index.stats();
        }

        @Override
        public void close() {
            index.close();
        }
    }
}
