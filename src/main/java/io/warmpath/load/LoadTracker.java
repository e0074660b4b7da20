package io.warmpath.load;

import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Books what this gateway has sent where.
 *
 * <p>Any thread, lock-free except when a slot number is seen for the first time. The three numbers
 * of a {@link WorkerLoad} are each exact, but read one after the other: beside a running booking
 * they may be from neighbouring moments. None is ever negative.
 *
 * <p>A booking whose owner never closed it expires after {@code expiry} and is counted, so that a
 * forgotten request does not make its worker look busy for ever. A request that really runs longer
 * is then no longer part of its worker's load; closing it later is harmless. Expiry is looked for
 * while booking, once per 1/64 of {@code expiry}, and by {@link #expire}.
 *
 * <p>Slot numbers are used again. A booking belongs to the slot as it was when booked: after {@link
 * #forget} it can neither be seen in nor taken off the load of the next incarnation.
 */
public final class LoadTracker implements LoadBook {
    public static final Duration DEFAULT_EXPIRY = Duration.ofHours(1);

    private static final int SWEEPS_PER_EXPIRY = 64;
    private static final int FIRST_CAPACITY = 64;

    private final LongSupplier nanoTime;
    private final long expiryNanos;
    private final Set<Open> open = ConcurrentHashMap.newKeySet();
    private final LongAdder expired = new LongAdder();
    private final AtomicLong nextSweepNanos;

    /** By slot number. Replaced by a larger one, and elements replaced, under the monitor only. */
    private volatile AtomicReferenceArray<SlotLoad> loads;

    public LoadTracker() {
        this(System::nanoTime, DEFAULT_EXPIRY);
    }

    /**
     * @param nanoTime monotonic clock, as {@link System#nanoTime}
     * @param expiry after which an open booking is taken for forgotten
     */
    public LoadTracker(LongSupplier nanoTime, Duration expiry) {
        if (expiry.isNegative() || expiry.isZero()) {
            throw new IllegalArgumentException("expiry " + expiry + " is not positive");
        }
        this.nanoTime = nanoTime;
        this.expiryNanos = expiry.toNanos();
        this.nextSweepNanos = new AtomicLong(nanoTime.getAsLong() + sweepIntervalNanos());
        this.loads = grown(new AtomicReferenceArray<>(0), FIRST_CAPACITY);
    }

    @Override
    public Booking book(WorkerSlot slot, int prefillTokens, int blocks) {
        if (prefillTokens < 0 || blocks < 0) {
            throw new IllegalArgumentException(
                    "negative booking: " + prefillTokens + " tokens, " + blocks + " blocks");
        }
        long now = nanoTime.getAsLong();
        sweepWhenDue(now);
        Open booking = new Open(of(slot), prefillTokens, blocks, now);
        open.add(booking);
        booking.begin();
        return booking;
    }

    @Override
    public WorkerLoad load(WorkerSlot slot) {
        AtomicReferenceArray<SlotLoad> all = loads;
        return slot.index() < all.length() ? all.get(slot.index()).read() : WorkerLoad.IDLE;
    }

    @Override
    public long open() {
        return open.size();
    }

    /** Bookings that were never closed and were given up. */
    public long expired() {
        return expired.sum();
    }

    /**
     * The slot number goes to another incarnation: its load starts at zero. To be called when the
     * slot is opened, so that a request routed by an older snapshot is not charged to the new one.
     */
    public synchronized void forget(WorkerSlot slot) {
        makeRoom(slot.index()).set(slot.index(), new SlotLoad());
    }

    /** Gives up all bookings older than the expiry now. Cost: one look at each open booking. */
    public void expire() {
        long now = nanoTime.getAsLong();
        for (Open booking : open) {
            if (now - booking.sinceNanos >= expiryNanos && booking.end()) {
                expired.increment();
            }
        }
    }

    private void sweepWhenDue(long now) {
        long due = nextSweepNanos.get();
        if (now - due >= 0 && nextSweepNanos.compareAndSet(due, now + sweepIntervalNanos())) {
            expire();
        }
    }

    private long sweepIntervalNanos() {
        return Math.max(1, expiryNanos / SWEEPS_PER_EXPIRY);
    }

    private SlotLoad of(WorkerSlot slot) {
        AtomicReferenceArray<SlotLoad> all = loads;
        return (slot.index() < all.length() ? all : makeRoom(slot.index())).get(slot.index());
    }

    private synchronized AtomicReferenceArray<SlotLoad> makeRoom(int index) {
        if (index >= loads.length()) {
            loads = grown(loads, Math.max(index + 1, loads.length() * 2));
        }
        return loads;
    }

    private static AtomicReferenceArray<SlotLoad> grown(
            AtomicReferenceArray<SlotLoad> old, int capacity) {
        AtomicReferenceArray<SlotLoad> larger = new AtomicReferenceArray<>(capacity);
        for (int i = 0; i < capacity; i++) {
            larger.set(i, i < old.length() ? old.get(i) : new SlotLoad());
        }
        return larger;
    }

    /** Sums of one slot in one incarnation. */
    private static final class SlotLoad {
        private final AtomicLong prefillTokens = new AtomicLong();
        private final AtomicLong blocks = new AtomicLong();
        private final AtomicLong requests = new AtomicLong();

        WorkerLoad read() {
            return new WorkerLoad(prefillTokens.get(), blocks.get(), (int) requests.get());
        }
    }

    /** One booking; each of its two steps happens once, whoever comes first. */
    private final class Open implements Booking {
        private static final int PREFILLING = 0;
        private static final int DECODING = 1;
        private static final int ENDED = 2;

        private final SlotLoad load;
        private final int prefillTokens;
        private final int blocks;
        private final long sinceNanos;

        private final AtomicInteger state = new AtomicInteger(PREFILLING);

        Open(SlotLoad load, int prefillTokens, int blocks, long sinceNanos) {
            this.load = load;
            this.prefillTokens = prefillTokens;
            this.blocks = blocks;
            this.sinceNanos = sinceNanos;
        }

        void begin() {
            load.prefillTokens.addAndGet(prefillTokens);
            load.blocks.addAndGet(blocks);
            load.requests.incrementAndGet();
        }

        @Override
        public void firstToken() {
            if (state.compareAndSet(PREFILLING, DECODING)) {
                load.prefillTokens.addAndGet(-prefillTokens);
            }
        }

        @Override
        public void close() {
            end();
        }

        /** True for the one call that ended it. */
        boolean end() {
            firstToken();
            if (!state.compareAndSet(DECODING, ENDED)) {
                return false;
            }
            load.blocks.addAndGet(-blocks);
            load.requests.decrementAndGet();
            open.remove(this);
            return true;
        }
    }
}
