package io.warmpath.load;

import io.warmpath.prefix.WorkerSlot;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One request's booking. Its steps happen once each, whoever comes first; they are serialised by
 * its monitor, inside which the tree's lock may be taken, never the other way round.
 */
final class OpenBooking implements LoadBook.Booking, Booked {
    private static final VarHandle HEARD;
    private static final VarHandle ANNOUNCED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEARD = lookup.findVarHandle(OpenBooking.class, "heard", boolean.class);
            ANNOUNCED = lookup.findVarHandle(OpenBooking.class, "announced", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LoadOptions options;
    private final ActiveTree tree;
    private final BookingListener listener;
    private final Consumer<OpenBooking> ended;
    private final WorkerSlot slot;
    private final SlotLoad rank;

    /** Of another gateway. */
    private final boolean peers;

    private final int prefillTokens;
    private final PromptBlocks prompt;
    private final int expectedOutput;

    /** Something came since the sweep looked last; opaque, by name. */
    @SuppressWarnings("UnusedVariable")
    private boolean heard;

    /**
     * The listener knows that something changed, and has not looked yet. Changes are written before
     * it is set, and it is cleared before they are read, all volatile: none is missed.
     */
    @SuppressWarnings("UnusedVariable") // read through the handle
    private volatile boolean announced;

    /** Of the sweeps alone. */
    private volatile long sinceNanos;

    /** Of the one thread that reports progress: from here on one more block is in use. */
    private int nextBlockAt;

    // Written under this monitor, read by the listener without.
    private volatile boolean prefilled;
    private volatile boolean over;
    private volatile int outputTokens;
    private volatile int weight = SlotLoad.WHOLE;

    // Guarded by this.
    private @Nullable ActiveNode last;
    private int own;

    OpenBooking(
            LoadOptions options,
            ActiveTree tree,
            BookingListener listener,
            Consumer<OpenBooking> ended,
            WorkerSlot slot,
            SlotLoad rank,
            boolean peers,
            int prefillTokens,
            PromptBlocks prompt,
            int expectedOutput,
            long now) {
        this.options = options;
        this.tree = tree;
        this.listener = listener;
        this.ended = ended;
        this.slot = slot;
        this.rank = rank;
        this.peers = peers;
        this.prefillTokens = prefillTokens;
        this.prompt = prompt;
        this.expectedOutput = expectedOutput;
        this.sinceNanos = now;
        this.nextBlockAt = blockEnd(prompt.total());
    }

    synchronized void begin() {
        rank.addPrefillTokens(prefillTokens);
        rank.addRequests(1);
        if (peers) {
            rank.addPeersRequests(1);
        }
        if (options.activeBlocks()) {
            last = tree.add(rank, prompt.sharedChain());
            own = prompt.total() - (last == null ? 0 : last.to);
            rank.addUnits((long) own * weight);
        }
        changed();
    }

    @Override
    public synchronized void firstToken() {
        if (!prefilled) {
            prefilled = true;
            rank.addPrefillTokens(-prefillTokens);
            changed();
        }
    }

    private void changed() {
        if (listener != BookingListener.NONE
                && !(boolean) ANNOUNCED.getAndSet(this, true)
                && !listener.changed(this)) {
            announced = false;
        }
    }

    @Override
    public void progress(int outputTokens) {
        HEARD.setOpaque(this, true);
        if (outputTokens >= nextBlockAt && options.outputBlocks()) {
            grow(
                    outputTokens,
                    expectedOutput == 0 ? 1 : 1 - (double) outputTokens / expectedOutput);
        }
    }

    @Override
    public void progress(int outputTokens, double share) {
        HEARD.setOpaque(this, true);
        if (options.outputBlocks()) {
            grow(outputTokens, share);
        }
    }

    private synchronized void grow(int output, double share) {
        if (over) {
            return;
        }
        int blocks = Math.ceilDiv(prompt.tokens() + output, prompt.blockSize());
        nextBlockAt = blockEnd(blocks);
        int named = last == null ? 0 : last.to;
        int nowWeighs = (int) (SlotLoad.WHOLE * Math.clamp(share, 0, 1));
        boolean weighed = nowWeighs != SlotLoad.WHOLE || weight != SlotLoad.WHOLE;
        int nowOwns = blocks - named;
        rank.addUnits((long) nowOwns * nowWeighs - (long) own * weight);
        own = nowOwns;
        weight = nowWeighs;
        outputTokens = output;
        if (last != null && weighed) {
            tree.weigh(rank, last, nowWeighs);
        }
        changed();
    }

    /** Output tokens that no longer fit into this many blocks. */
    private int blockEnd(int blocks) {
        return (int)
                Math.min(
                        Integer.MAX_VALUE,
                        (long) blocks * prompt.blockSize() - prompt.tokens() + 1);
    }

    /** How long nothing was heard. Asking clears what was heard: for sweeps only. */
    long quietNanos(long now) {
        if ((boolean) HEARD.getOpaque(this)) {
            HEARD.setOpaque(this, false);
            sinceNanos = now;
        }
        return now - sinceNanos;
    }

    @Override
    public void close() {
        end();
    }

    /** True for the one call that ended it. */
    synchronized boolean end() {
        if (over) {
            return false;
        }
        over = true;
        firstToken();
        rank.addRequests(-1);
        if (peers) {
            rank.addPeersRequests(-1);
        }
        if (options.activeBlocks()) {
            rank.addUnits(-(long) own * weight);
            if (last != null) {
                tree.remove(rank, last);
                last = null;
            }
        }
        ended.accept(this);
        changed();
        return true;
    }

    @Override
    public WorkerSlot slot() {
        return slot;
    }

    @Override
    public int prefillTokens() {
        return prefillTokens;
    }

    @Override
    public PromptBlocks prompt() {
        return prompt;
    }

    @Override
    public int expectedOutput() {
        return expectedOutput;
    }

    @Override
    public boolean prefilled() {
        return prefilled;
    }

    @Override
    public int outputTokens() {
        return outputTokens;
    }

    @Override
    public int weight() {
        return weight;
    }

    @Override
    public boolean over() {
        return over;
    }

    @Override
    public void taken() {
        announced = false;
    }
}
