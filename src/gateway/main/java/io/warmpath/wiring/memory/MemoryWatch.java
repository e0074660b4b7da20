package io.warmpath.wiring.memory;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;

/**
 * Looks at the process' memory, and says when it is full: then new requests are refused, so that
 * what runs can end. Before that it has garbage given back. A gateway that is quiet gives back what
 * its last load has left, too: a collector that is never asked keeps the heap at its peak. {@link
 * #look} on one thread; the readings any thread.
 */
public final class MemoryWatch {
    private static final Logger LOG = Logger.getLogger(MemoryWatch.class);

    /** Resident, as a part of the limit: from here on garbage is given back. */
    static final double NEAR = 0.80;

    /** Resident, as a part of the limit: full from here on, and again free below the other one. */
    static final double FULL = 0.88;

    static final double FREE = 0.86;

    /** What a collection left, as a part of where long-lived objects may be. */
    static final double HEAP_FULL = 0.80;

    static final double HEAP_FREE = 0.70;

    /** Between two collections that are asked for. */
    private static final Duration COLLECT_EVERY = Duration.ofSeconds(2);

    private static final Duration QUIET = Duration.ofMinutes(1);

    /** How long one looks before a process is called idle. */
    static final Duration IDLE_FOR = Duration.ofSeconds(10);

    /** Part of one processor that an idle process may use: nobody waits for a collection then. */
    static final double IDLE = 0.2;

    /** Bytes, and part of what the last collection left: less is not worth a collection. */
    static final long GROWN = 32L << 20;

    static final double GROWN_PART = 0.2;

    static final Duration LONGEST_PAUSE = Duration.ofHours(1);

    private final long limit;
    private final Readings readings;
    private final Consumer<Boolean> shed;
    private final LongSupplier nanoTime;
    private long collectAgain; // not before
    private long warnAgain; // not before
    private long left; // resident, at least since the last collection
    private long idleAgain; // when one is worth it whatever is resident
    private Duration pause = IDLE_FOR; // between two that gave nothing back, doubled each time
    private long lookedAt; // when the span began in which it may be idle
    private long usedThen; // nanoseconds of processors
    private volatile boolean full;
    private volatile long resident;
    private final AtomicLong shortages = new AtomicLong();

    /** What a process takes. */
    interface Readings {
        /** Bytes that are in the machine's memory; 0: not known. */
        long resident();

        /** Part of the heap for long-lived objects that the last collection of it left in use. */
        double heapInUse();

        /** Nanoseconds of processors since the process began; negative: not known. */
        long processors();

        /** Has garbage collected. Takes its time. */
        void collect();
    }

    /**
     * @param limit of resident bytes
     * @param shed is told true when memory is full, and false when it is no longer
     * @param nanoTime as {@link System#nanoTime}
     */
    MemoryWatch(long limit, Readings readings, Consumer<Boolean> shed, LongSupplier nanoTime) {
        this.limit = limit;
        this.readings = readings;
        this.shed = shed;
        this.nanoTime = nanoTime;
        collectAgain = nanoTime.getAsLong();
        warnAgain = collectAgain;
        lookedAt = collectAgain;
        idleAgain = collectAgain;
        usedThen = readings.processors();
    }

    /** Once; to be called several times a second. */
    void look() {
        long now = nanoTime.getAsLong();
        long taken = readings.resident();
        resident = taken;
        double heap = readings.heapInUse();
        left = Math.min(left, taken);
        boolean near = taken >= limit * NEAR || heap >= HEAP_FREE;
        boolean more = taken - left >= Math.max(GROWN, left * GROWN_PART);
        boolean idle = idle(now) && (more || now - idleAgain >= 0);
        if ((near || idle) && now - collectAgain >= 0) {
            collectAgain = now + COLLECT_EVERY.toNanos();
            readings.collect();
            long after = readings.resident();
            // A load that was starved looks like none, and holds on to what it has: tried again.
            boolean worthIt = taken - after >= GROWN;
            pause = worthIt ? IDLE_FOR : min(pause.multipliedBy(2), LONGEST_PAUSE);
            idleAgain = now + pause.toNanos();
            left = after;
        }
        if (full) {
            if (taken < limit * FREE && heap < HEAP_FREE) {
                full = false;
                shed.accept(false);
            }
        } else if (taken >= limit * FULL || heap >= HEAP_FULL) {
            full = true;
            shortages.incrementAndGet();
            shed.accept(true);
            if (now - warnAgain >= 0) {
                LOG.warnf(
                        "Memory is full: %d of %d MiB are resident, %.0f %% of the heap are in use."
                                + " Requests with bodies get 503 until running ones have ended",
                        taken >> 20, limit >> 20, heap * 100);
            }
            warnAgain = now + QUIET.toNanos();
        }
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Whether a span ends now in which the process had little to do. */
    private boolean idle(long now) {
        long span = now - lookedAt;
        if (span < IDLE_FOR.toNanos()) {
            return false;
        }
        long used = readings.processors();
        boolean idle = used >= 0 && used - usedThen < span * IDLE;
        lookedAt = now;
        usedThen = used;
        return idle;
    }

    /** Whether requests are refused for it. */
    public boolean full() {
        return full;
    }

    /** Bytes at the last look. */
    public long resident() {
        return resident;
    }

    /** Bytes that may be. */
    public long limit() {
        return limit;
    }

    /** How often memory became full. */
    public long shortages() {
        return shortages.get();
    }
}
