package io.warmpath.events;

import io.warmpath.events.SourceTally.Of;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What has been taken of one publisher's batches: hands them to the sink, has it forget them, takes
 * them over from a file, and notes how far they can be relied on. One thread.
 */
final class SourceContent {
    private final EventSource source;
    private final BatchSink sink;
    private final EventCounters counters;
    private final SourceTally tally;
    private final SourceOrder order;
    private final SourceStanding standing;
    private final LongSupplier nanoTime;

    /** Taken from a file and not yet confirmed by the publisher. */
    private boolean restored;

    private long expires;

    /** The file's last batch, which proves a process while it is restored. */
    private long lastOfFile;

    /** Whether the process that speaks is the one whose batches were taken is not known. */
    private boolean stranger;

    SourceContent(
            EventSource source,
            BatchSink sink,
            EventCounters counters,
            SourceTally tally,
            SourceOrder order,
            SourceStanding standing,
            LongSupplier nanoTime) {
        this.source = source;
        this.sink = sink;
        this.counters = counters;
        this.tally = tally;
        this.order = order;
        this.standing = standing;
        this.nanoTime = nanoTime;
    }

    /** The index holds what another process of ours had applied. */
    void resume(SourceMark mark, long expiryNanos) {
        order.resume(mark.next(), mark.fingerprint());
        sink.restore(mark.memories());
        tally.set(Of.SEQUENCE, mark.next() - 1);
        standing.complete = mark.complete();
        standing.reading = false;
        standing.unconfirmed = true;
        stranger = true;
        restored = true;
        lastOfFile = mark.next() - 1;
        expires = nanoTime.getAsLong() + expiryNanos;
        standing.settle(
                "taken from a file: batches from " + Long.toUnsignedString(mark.next()) + " on");
    }

    /** Where to go on after a restart of ours; null before the first batch. */
    @Nullable SourceMark mark() {
        return order.started()
                ? new SourceMark(
                        source.dpRank(),
                        source.ownSlot(),
                        order.next(),
                        order.lastFingerprint(),
                        standing.complete,
                        sink.memories())
                : null;
    }

    /** What came from a file is still in doubt. */
    boolean restored() {
        return restored;
    }

    /** It has been in doubt for too long. */
    boolean expired(long now) {
        return restored && now - expires >= 0;
    }

    /** The connection was lost: another process may speak from now on. */
    void doubt() {
        if (order.started()) {
            standing.unconfirmed = true;
            stranger = true;
        }
    }

    /** The batch which proves a process when it comes again as it was. */
    long proof() {
        return restored && order.remembers(lastOfFile) ? lastOfFile : order.next() - 1;
    }

    /** It has come again as it was. */
    void proved() {
        // One that came in doubt proves itself alone.
        stranger &= restored && !order.remembers(lastOfFile);
    }

    /** A batch goes on where another ended. A number that fits is no proof of the process. */
    void goesOn() {
        if (stranger) {
            stranger = false;
            standing.complete = false;
            sink.unproven();
        }
    }

    /** The publisher has said all that it can, and it fits. */
    void confirm() {
        if (standing.unconfirmed) {
            goesOn();
        }
        standing.unconfirmed = false;
        standing.stranger = null;
        restored = false;
    }

    /** It is the process whose batches were taken: that is known otherwise. */
    void vouched() {
        stranger = false;
        confirm();
    }

    /** A batch of the live stream comes next, and nobody was asked. */
    void unasked() {
        // What came from a file is confirmed by a replay only: another process may have come as
        // far.
        if (standing.unconfirmed && !restored) {
            confirm();
        }
    }

    /** The batch comes next, or after a hole that was accepted. */
    void take(long sequence, byte[] payload) {
        boolean begins = !order.started();
        if (begins) {
            standing.complete = sequence == 0;
        }
        order.take(sequence, payload);
        tally.add(Of.BATCHES, 1);
        tally.set(Of.SEQUENCE, sequence);
        tally.set(Of.NEWEST_AT, nanoTime.getAsLong());
        try {
            switch (sink.take(sequence, payload)) {
                case APPLIED ->
                        standing.complete |= sequence == 1 && begins && sink.countsFromOne();
                case CLEARED -> {
                    standing.complete = true;
                    standing.doubtful = false;
                    vouched();
                }
                case PARTLY -> unread("events of batch " + sequence + " could not be read");
            }
            standing.misfit = sink.misfit();
        } catch (MalformedBatchException e) {
            counters.rejectedBatches.increment();
            tally.add(Of.REJECTED, 1);
            unread("batch " + sequence + " could not be read: " + e.getMessage());
        }
    }

    /** It may have been a removal. */
    private void unread(String why) {
        standing.complete = false;
        standing.doubtful = true;
        standing.settle(why);
    }

    /** A hole nobody can fill: what was removed in it is not known, so nothing may be kept. */
    void lose(String why) {
        counters.gapsLost.increment();
        tally.add(Of.LOST, 1);
        forget(false);
        standing.settle(why);
    }

    /** Another process publishes now. */
    void forgetProcess() {
        counters.restarts.increment();
        tally.add(Of.RESTARTS, 1);
        forget(true);
        order.reset();
        standing.misfit = null;
        standing.reading = true;
        standing.settle("the engine has restarted: what its old process held is dropped");
    }

    private void forget(boolean restarted) {
        sink.forget(restarted);
        standing.complete = false;
        standing.doubtful = false;
        standing.repairing = false;
        vouched();
    }
}
