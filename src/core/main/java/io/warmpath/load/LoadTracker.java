package io.warmpath.load;

import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Books what this gateway has sent where; blocks of shared prefixes count once per rank.
 *
 * <p>Any thread. Sums are atomics; names of blocks lie in an {@link ActiveTree} with striped locks.
 * The three numbers of a {@link WorkerLoad} are each exact, but read one after the other: beside a
 * running booking they may be from neighbouring moments. None is ever negative.
 *
 * <p>A booking whose owner never closed it expires when nothing was heard of it for the expiry, and
 * is counted, so that a forgotten request does not make its worker look busy for ever; closing it
 * later is harmless. {@link LoadBook.Booking#progress} keeps a long answer alive. Expiry is looked
 * for while booking, once per 1/64 of it, and by {@link #expire}; so a booking may live that much
 * longer.
 *
 * <p>Slot numbers are used again. A booking belongs to the slot as it was when booked: after {@link
 * #forget} it can neither be seen in nor taken off the load of the next incarnation.
 */
public final class LoadTracker implements LoadBook {
    private static final int SWEEPS_PER_EXPIRY = 64;
    private static final int FIRST_CAPACITY = 64;

    private final LongSupplier nanoTime;
    private final LoadOptions options;
    private final long secret;
    private final BookingListener listener;
    private final long expiryNanos;
    private final ActiveTree tree = new ActiveTree();
    private final Set<OpenBooking> open = ConcurrentHashMap.newKeySet();
    private final LongAdder expired = new LongAdder();
    private final AtomicLong nextSweepNanos;

    /** By slot number. Replaced by a larger one, and elements replaced, under the monitor only. */
    private volatile AtomicReferenceArray<SlotLoad> loads;

    public LoadTracker() {
        this(System::nanoTime, LoadOptions.DEFAULT, 0);
    }

    /** With the defaults but for the expiry. */
    public LoadTracker(LongSupplier nanoTime, Duration expiry) {
        this(nanoTime, LoadOptions.DEFAULT.withExpiry(expiry), 0);
    }

    /**
     * @param nanoTime monotonic clock, as {@link System#nanoTime}
     * @param secret keys the names of blocks, so that no client can make prompts collide
     */
    public LoadTracker(LongSupplier nanoTime, LoadOptions options, long secret) {
        this(nanoTime, options, secret, BookingListener.NONE);
    }

    /** {@code listener}: told of this gateway's own bookings. */
    public LoadTracker(
            LongSupplier nanoTime, LoadOptions options, long secret, BookingListener listener) {
        this.nanoTime = nanoTime;
        this.options = options;
        this.secret = secret;
        this.listener = listener;
        this.expiryNanos = options.expiry().toNanos();
        this.nextSweepNanos = new AtomicLong(nanoTime.getAsLong() + sweepIntervalNanos());
        this.loads = grown(new AtomicReferenceArray<>(0), FIRST_CAPACITY);
    }

    @Override
    public PromptBlocks name(String model, String salt, int[] tokens, int blockSize) {
        return blockSize > 0
                ? PromptBlocks.of(tokens, blockSize, PromptBlocks.seed(secret, model, salt))
                        .shared(options.assumeReuse())
                : PromptBlocks.unnamed(blockSize, tokens.length);
    }

    @Override
    public PromptBlocks name(String model, String salt, long[] hashes, int tokens, int blockSize) {
        return PromptBlocks.ofHashes(
                        hashes, tokens, blockSize, PromptBlocks.seed(secret, model, salt))
                .shared(options.assumeReuse());
    }

    @Override
    public Booking book(
            WorkerSlot slot, int prefillTokens, PromptBlocks prompt, int expectedOutput) {
        long now = nanoTime.getAsLong();
        sweepWhenDue(now);
        OpenBooking booking =
                booking(slot, false, prefillTokens, prompt, expectedOutput, now, listener);
        booking.begin(); // first, so that no sweep can end what has not begun
        open.add(booking);
        return booking;
    }

    /**
     * Books what another gateway has sent. It counts as any other load, but is nobody's news, is
     * not among {@link #open} and does not expire: whoever books it knows when it is over.
     *
     * @param prompt named by the same secret, or its blocks are shared with nobody here
     */
    public Booking bookForPeer(
            WorkerSlot slot, int prefillTokens, PromptBlocks prompt, int expectedOutput) {
        OpenBooking booking =
                booking(
                        slot,
                        true,
                        prefillTokens,
                        prompt,
                        expectedOutput,
                        nanoTime.getAsLong(),
                        BookingListener.NONE);
        booking.begin();
        return booking;
    }

    private OpenBooking booking(
            WorkerSlot slot,
            boolean peers,
            int prefillTokens,
            PromptBlocks prompt,
            int expectedOutput,
            long now,
            BookingListener listener) {
        if (prefillTokens < 0 || expectedOutput < 0) {
            throw new IllegalArgumentException(
                    "negative booking: %s tokens, %s to come"
                            .formatted(prefillTokens, expectedOutput));
        }
        return new OpenBooking(
                options,
                tree,
                listener,
                open::remove,
                slot,
                of(slot),
                peers,
                prefillTokens,
                prompt,
                expectedOutput,
                now);
    }

    /** Every booking of this gateway that is open now; those that begin meanwhile perhaps. */
    public void forEachOpen(Consumer<Booked> action) {
        open.forEach(action);
    }

    /** Requests on this slot that this gateway sent itself. */
    public int ownRequests(WorkerSlot slot) {
        AtomicReferenceArray<SlotLoad> all = loads;
        return slot.index() < all.length() ? all.get(slot.index()).ownRequests() : 0;
    }

    /** A request that this gateway has sent runs on one of these slots, open or closed. */
    public boolean runsOn(Set<WorkerSlot> slots) {
        for (OpenBooking booking : open) {
            if (slots.contains(booking.slot())) {
                return true;
            }
        }
        return false;
    }

    @Override
    public WorkerLoad load(WorkerSlot slot) {
        AtomicReferenceArray<SlotLoad> all = loads;
        return slot.index() < all.length() ? all.get(slot.index()).read() : WorkerLoad.IDLE;
    }

    /** Requests booked on the slot, by this gateway or its peers. */
    public int booked(WorkerSlot slot) {
        AtomicReferenceArray<SlotLoad> all = loads;
        return slot.index() < all.length() ? all.get(slot.index()).booked() : 0;
    }

    /** Requests that the engine has beyond those. */
    public int outside(WorkerSlot slot) {
        AtomicReferenceArray<SlotLoad> all = loads;
        return slot.index() < all.length() ? all.get(slot.index()).outside() : 0;
    }

    /**
     * The engine says what else it has running, for clients that do not come here. Counts as load
     * until it is set anew.
     */
    public void outside(WorkerSlot slot, int requests, double blocks) {
        of(slot).outside(requests, blocks);
    }

    @Override
    public PotentialBlocks potential(List<PromptBlocks> prompts) {
        if (!options.activeBlocks()) {
            return PotentialBlocks.NOT_TRACKED;
        }
        int @Nullable [] shared = null;
        List<PrefixUsers> users = new ArrayList<>(prompts.size());
        for (int i = 0; i < prompts.size(); i++) {
            long[] chain = prompts.get(i).sharedChain();
            if (chain.length > 0) {
                shared = shared == null ? new int[loads.length()] : shared;
                PrefixUsers path = new PrefixUsers(prompts.get(i).blockSize());
                // Names of different block sizes never meet: a rank gets entries from one only.
                tree.share(chain, shared, path);
                users.add(path);
            }
        }
        return shared == null ? PotentialBlocks.ALL_NEW : new PotentialBlocks(shared, true, users);
    }

    @Override
    public Duration expiry() {
        return options.expiry();
    }

    @Override
    public long open() {
        return open.size();
    }

    /** Bookings that were never closed and were given up. */
    public long expired() {
        return expired.sum();
    }

    /** Stretches of blocks kept for running requests; 0 when none runs. */
    public int stretches() {
        return tree.nodes();
    }

    /**
     * The slot number goes to another incarnation: its load starts at zero. To be called when the
     * slot is opened, so that a request routed by an older snapshot is not charged to the new one.
     */
    public synchronized void forget(WorkerSlot slot) {
        SlotLoad old = makeRoom(slot.index()).getAndSet(slot.index(), new SlotLoad(slot.index()));
        old.retire();
    }

    /** Gives up all bookings older than the expiry now. Cost: one look at each open booking. */
    public void expire() {
        long now = nanoTime.getAsLong();
        for (OpenBooking booking : open) {
            if (booking.quietNanos(now) >= expiryNanos && booking.end()) {
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
            larger.set(i, i < old.length() ? old.get(i) : new SlotLoad(i));
        }
        return larger;
    }
}
