package io.warmpath.bench;

import io.warmpath.adapter.nats.NatsGateway;
import io.warmpath.adapter.nats.NatsOptions;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PromptBlocks;
import io.warmpath.replica.ReplicaCounters.Count;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * How long after its booking in one gateway a request is part of the load in another, over a real
 * nats-server on this machine, and what the sync costs. Both gateways are in this process; both
 * have traffic: prompts of 256 named blocks, half of which 64 conversations share, each running for
 * 200 ms.
 */
public final class ReplicaLag {
    private static final int WORKERS = 9;
    private static final int BLOCKS = 256;
    private static final long RUNS_NANOS = 200_000_000;

    private ReplicaLag() {}

    /**
     * @param cpuMicros of all threads of both gateways but those that make the traffic, per request
     *     of either
     * @param bytes sent per request
     */
    public record Result(
            int probes,
            double p50Millis,
            double p99Millis,
            double maxMillis,
            double cpuMicros,
            double bytes,
            long requests,
            long lost) {}

    private static final class Traffic extends Thread {
        final NatsGateway gateway;
        final int rate;
        volatile boolean over;
        volatile long requests;

        Traffic(NatsGateway gateway, int rate) {
            this.gateway = gateway;
            this.rate = rate;
        }

        private record Open(LoadBook.Booking booking, long until) {}

        @Override
        public void run() {
            SplittableRandom random = new SplittableRandom(3);
            Deque<Open> open = new ArrayDeque<>();
            long begin = System.nanoTime();
            long made = 0;
            while (!over) {
                long now = System.nanoTime();
                while (!open.isEmpty() && open.peek().until() <= now) {
                    open.remove().booking().close();
                }
                long due = (now - begin) * rate / 1_000_000_000;
                for (; made < due; made++) {
                    LoadBook.Booking booking =
                            gateway.load.book(
                                    gateway.slot(random.nextInt(WORKERS - 1)),
                                    1000,
                                    prompt(random),
                                    0);
                    booking.firstToken();
                    open.add(new Open(booking, now + RUNS_NANOS));
                }
                requests = made;
                LockSupport.parkNanos(200_000);
            }
            open.forEach(o -> o.booking().close());
        }

        private static PromptBlocks prompt(SplittableRandom random) {
            long conversation = random.nextInt(64);
            long[] chain = new long[BLOCKS];
            for (int i = 0; i < BLOCKS; i++) {
                chain[i] =
                        i < BLOCKS / 2
                                ? (conversation << 32 | i) * 0x9e3779b97f4a7c15L
                                : random.nextLong();
            }
            return new PromptBlocks(16, 16 * BLOCKS, chain, true);
        }
    }

    /**
     * @param rate requests per second of each gateway
     */
    public static Result measure(NatsOptions server, int seconds, int rate)
            throws InterruptedException {
        try (NatsGateway a = new NatsGateway(server, 1, WORKERS);
                NatsGateway b = new NatsGateway(server, 2, WORKERS)) {
            Traffic ofA = new Traffic(a, rate);
            Traffic ofB = new Traffic(b, rate);
            ofA.start();
            ofB.start();
            while (a.counted() + b.counted() < 2) {
                Thread.sleep(1);
            }
            Thread.sleep(200L * Math.min(10, seconds));
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            long[] except = {ofA.threadId(), ofB.threadId(), Thread.currentThread().threadId()};
            long cpu = cpu(threads, except);
            long requests = ofA.requests + ofB.requests;
            long bytes = a.sync.counters().get(Count.SENT_BYTES);
            long ownRequests = ofA.requests;
            double[] lags = probe(a, b, System.nanoTime() + seconds * 1_000_000_000L);
            cpu = cpu(threads, except) - cpu;
            requests = ofA.requests + ofB.requests - requests;
            bytes = a.sync.counters().get(Count.SENT_BYTES) - bytes;
            ownRequests = ofA.requests - ownRequests;
            ofA.over = true;
            ofB.over = true;
            ofA.join();
            ofB.join();
            Arrays.sort(lags);
            return new Result(
                    lags.length,
                    lags[lags.length / 2],
                    lags[(int) (lags.length * 0.99)],
                    lags[lags.length - 1],
                    cpu / 1e3 / requests,
                    (double) bytes / ownRequests,
                    requests,
                    a.sync.counters().get(Count.LOST) + b.sync.counters().get(Count.LOST));
        }
    }

    /** Milliseconds until the other has seen a booking on a worker that nobody else uses. */
    private static double[] probe(NatsGateway a, NatsGateway b, long end) {
        double[] lags = new double[1 << 16];
        SplittableRandom random = new SplittableRandom(8);
        int count = 0;
        while (System.nanoTime() < end && count < lags.length) {
            LockSupport.parkNanos(5_000_000 + random.nextInt(10_000_000));
            long began = System.nanoTime();
            LoadBook.Booking booking =
                    a.load.book(a.slot(WORKERS - 1), 1, PromptBlocks.unnamed(16, 16), 0);
            while (b.requests(WORKERS - 1) == 0) {
                LockSupport.parkNanos(20_000);
            }
            lags[count++] = (System.nanoTime() - began) / 1e6;
            booking.close();
            while (b.requests(WORKERS - 1) != 0) {
                LockSupport.parkNanos(20_000);
            }
        }
        return Arrays.copyOf(lags, count);
    }

    private static long cpu(ThreadMXBean threads, long[] except) {
        long sum = 0;
        for (long id : threads.getAllThreadIds()) {
            if (Arrays.stream(except).noneMatch(e -> e == id)) {
                sum += Math.max(0, threads.getThreadCpuTime(id));
            }
        }
        return sum;
    }

    /** {@code ReplicaLag [SECONDS [REQUESTS-PER-SECOND]]}. */
    public static void main(String[] args) throws IOException, InterruptedException {
        int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 20;
        int rate = args.length > 1 ? Integer.parseInt(args[1]) : 2500;
        try (NatsServer server = NatsServer.start(Files.createTempDirectory("replica-lag"))) {
            Result r = measure(server.options(), seconds, rate);
            System.out.printf(
                    Locale.ROOT,
                    "%d probes: p50 %.2f ms, p99 %.2f ms, max %.2f ms; %.1f us CPU and %.0f bytes"
                            + " per request at %d/s each (%d requests, %d messages lost)%n",
                    r.probes(),
                    r.p50Millis(),
                    r.p99Millis(),
                    r.maxMillis(),
                    r.cpuMicros(),
                    r.bytes(),
                    rate,
                    r.requests(),
                    r.lost());
        }
    }
}
