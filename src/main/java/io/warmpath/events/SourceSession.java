package io.warmpath.events;

import java.util.ArrayDeque;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Follows one publisher: order, gaps, replay, restarts, trust. Knows no socket and no clock of its
 * own.
 *
 * <p>One thread calls everything but {@link #trust}, which any thread may read. Batches reach the
 * applier in sequence order, each at most once.
 *
 * <p>A replay asks from one batch before the hole. That batch must come back byte for byte; if it
 * differs, or is not there although the publisher has answered replays before, another process is
 * publishing now and the old content is forgotten. The same question is asked of a publisher that
 * has been silent for a while: it finds batches lost in a reconnect that no later batch betrays.
 */
public final class SourceSession {
    /**
     * Sends a replay request; nothing may arrive any more of an earlier one that has not ended.
     * Answers come back as calls.
     */
    public interface ReplayLink {
        void request(long fromSequence);
    }

    /** Told on every change of trust. */
    public interface TrustListener {
        void changed(Trust now, String why);
    }

    /**
     * @param replayTimeoutNanos silence after which a replay counts as failed
     * @param auditIntervalNanos silence of the live stream after which it is checked by a replay
     */
    public record Timing(long replayTimeoutNanos, long auditIntervalNanos) {}

    private enum Asked {
        NOTHING,
        /** The whole history, nothing known yet. */
        HISTORY,
        /** What lies between the last applied batch and the queued live ones. */
        GAP,
        /** Whether the silent publisher still is the same and at the same place. */
        AUDIT
    }

    private record Message(long sequence, byte[] payload) {}

    /** Requests that may go unanswered in a row before a replay is given up. */
    private static final int TRIES = 2;

    private final EventApplier applier;
    private final BatchDecoder decoder;
    private final EventCounters counters;
    private final @Nullable ReplayLink replay;
    private final TrustListener listener;
    private final Timing timing;
    private final LongSupplier nanoTime;

    private final SourceOrder order = new SourceOrder();
    private final ArrayDeque<Message> waiting = new ArrayDeque<>();
    private Asked asked = Asked.NOTHING;
    private boolean complete;
    private boolean progress;
    private boolean replayWorks;
    private int replies;
    private int tries;
    private long askedFrom;
    private long deadline;
    private long quietSince;
    private volatile Trust trust = Trust.PENDING;

    public SourceSession(
            EventApplier applier,
            BatchDecoder decoder,
            EventCounters counters,
            @Nullable ReplayLink replay,
            TrustListener listener,
            Timing timing,
            LongSupplier nanoTime) {
        this.applier = applier;
        this.decoder = decoder;
        this.counters = counters;
        this.replay = replay;
        this.listener = listener;
        this.timing = timing;
        this.nanoTime = nanoTime;
        this.quietSince = nanoTime.getAsLong();
    }

    /** Any thread. */
    public Trust trust() {
        return trust;
    }

    /** True while a replay is on its way. */
    public boolean replaying() {
        return asked != Asked.NOTHING;
    }

    /** The sockets are there: learn what the publisher said before. */
    public void start() {
        if (replay != null) {
            ask(Asked.HISTORY, 0);
        }
    }

    /** A batch of the live stream. */
    public void live(long sequence, byte[] payload) {
        quietSince = nanoTime.getAsLong();
        Message message = new Message(sequence, payload);
        if (replaying()) {
            waiting.add(message);
        } else {
            accept(message, true);
        }
    }

    /** A batch of the running replay. */
    public void replayed(long sequence, byte[] payload) {
        if (!replaying()) {
            return;
        }
        deadline = nanoTime.getAsLong() + timing.replayTimeoutNanos();
        counters.replayedBatches.increment();
        replayWorks = true;
        replies++;
        switch (order.replayed(sequence, payload)) {
            case FIRST -> {
                complete = Long.compareUnsigned(sequence, 1) <= 0;
                take(sequence, payload);
            }
            case NEXT -> take(sequence, payload);
            case DUPLICATE -> {}
            case GAP -> {
                lose("batches " + order.next() + " to " + (sequence - 1) + " are gone");
                take(sequence, payload);
            }
            case RESTART -> {
                restarted();
                ask(Asked.HISTORY, 0);
            }
        }
    }

    /** The publisher has sent all it has. */
    public void replayEnded() {
        if (!replaying()) {
            return;
        }
        Asked was = asked;
        if (order.started() && replies == 0 && replayWorks) {
            // The batch applied last is asked for too, so an empty answer means another process.
            restarted();
            replayWorks = false;
            ask(Asked.HISTORY, 0);
            return;
        }
        if (was == Asked.HISTORY && !order.started()) {
            complete = true;
        }
        finish();
    }

    /** Looks at the clock; call it now and then. */
    public void tick() {
        long now = nanoTime.getAsLong();
        if (replaying()) {
            if (now - deadline >= 0) {
                counters.replayFailures.increment();
                if (replies == 0 && tries < TRIES) {
                    send();
                } else {
                    finish();
                }
            }
        } else if (replay != null && now - quietSince >= timing.auditIntervalNanos()) {
            quietSince = now;
            ask(
                    order.started() ? Asked.AUDIT : Asked.HISTORY,
                    order.started() ? order.next() - 1 : 0);
        }
    }

    private void accept(Message m, boolean mayAsk) {
        switch (order.live(m.sequence, m.payload)) {
            case FIRST -> first(m, mayAsk);
            case NEXT -> take(m.sequence, m.payload);
            case DUPLICATE -> counters.duplicates.increment();
            case GAP -> gap(m, mayAsk);
            case RESTART -> {
                restarted();
                // Judged again only to note its number as the newest of the new process.
                order.live(m.sequence, m.payload);
                first(m, replay != null);
            }
        }
        if (!replaying()) {
            settle("caught up");
        }
    }

    private void first(Message m, boolean mayAsk) {
        if (m.sequence != 0 && replay != null && mayAsk) {
            waiting.addFirst(m);
            ask(Asked.HISTORY, 0);
            return;
        }
        complete = Long.compareUnsigned(m.sequence, 1) <= 0;
        take(m.sequence, m.payload);
    }

    private void gap(Message m, boolean mayAsk) {
        if (replay != null && mayAsk) {
            counters.gaps.increment();
            waiting.addFirst(m);
            ask(Asked.GAP, order.next() - 1);
            return;
        }
        if (replay == null) {
            counters.gaps.increment();
        }
        lose("batches " + order.next() + " to " + (m.sequence - 1) + " were missed");
        take(m.sequence, m.payload);
    }

    private void take(long sequence, byte[] payload) {
        order.take(sequence, payload);
        progress = true;
        try {
            complete |= applier.apply(decoder.decode(payload));
        } catch (MalformedBatchException e) {
            counters.rejectedBatches.increment();
            complete = false;
            settle("batch " + sequence + " could not be read: " + e.getMessage());
        }
    }

    /** A hole nobody can fill: what was removed in it is not known, so nothing may be kept. */
    private void lose(String why) {
        counters.gapsLost.increment();
        applier.forget();
        complete = false;
        changeTrust(Trust.INCOMPLETE, why);
    }

    private void restarted() {
        counters.restarts.increment();
        applier.forget();
        order.reset();
        complete = false;
    }

    private void ask(Asked what, long from) {
        asked = what;
        askedFrom = from;
        progress = false;
        tries = 0;
        if (what != Asked.AUDIT) {
            changeTrust(Trust.PENDING, "asking for batches from " + from);
        }
        send();
    }

    private void send() {
        if (replay == null) {
            throw new IllegalStateException("no replay endpoint");
        }
        replies = 0;
        tries++;
        deadline = nanoTime.getAsLong() + timing.replayTimeoutNanos();
        counters.replays.increment();
        replay.request(askedFrom);
    }

    /** The replay is over, well or not: the batches that waited are applied now. */
    private void finish() {
        boolean moved = progress;
        asked = Asked.NOTHING;
        quietSince = nanoTime.getAsLong();
        while (!replaying() && !waiting.isEmpty()) {
            // A second hole may be asked for only when the last answer brought something, else a
            // publisher whose buffer is empty would be asked for ever.
            accept(waiting.removeFirst(), moved);
        }
        if (!replaying()) {
            settle(moved ? "replay done" : "replay brought nothing new");
        }
    }

    private void settle(String why) {
        changeTrust(complete ? Trust.COMPLETE : Trust.INCOMPLETE, why);
    }

    private void changeTrust(Trust now, String why) {
        if (trust != now) {
            trust = now;
            listener.changed(now, why);
        }
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "next %s, %s, %d waiting",
                order.started() ? Long.toUnsignedString(order.next()) : "unknown",
                trust,
                waiting.size());
    }
}
