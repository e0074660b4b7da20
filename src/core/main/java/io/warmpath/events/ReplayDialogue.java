package io.warmpath.events;

import io.warmpath.events.SourceSession.ReplayLink;
import io.warmpath.events.SourceTally.Of;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One publisher asked to say again what it has said: what is asked, how often, and for how long its
 * silence is borne. What the answers mean is the session's. One thread.
 */
final class ReplayDialogue {
    /** What a request is made for. */
    enum About {
        /** The whole history, nothing known yet. */
        HISTORY,
        /** What lies between the last applied batch and the queued live ones. */
        GAP,
        /** Whether the publisher still is the same and at the same place. */
        AUDIT
    }

    /** Requests that may go unanswered in a row before a replay is given up. */
    private static final int TRIES = 2;

    private final @Nullable ReplayLink link;
    private final EventCounters counters;
    private final SourceTally tally;
    private final long timeoutNanos;
    private final LongSupplier nanoTime;
    private @Nullable About about;
    private boolean works;
    private int replies;
    private int tries;
    private long from;
    private long askedAt;
    private long deadline;

    ReplayDialogue(
            @Nullable ReplayLink link,
            EventCounters counters,
            SourceTally tally,
            long timeoutNanos,
            LongSupplier nanoTime) {
        this.link = link;
        this.counters = counters;
        this.tally = tally;
        this.timeoutNanos = timeoutNanos;
        this.nanoTime = nanoTime;
    }

    /** Whether the publisher has a replay socket. */
    boolean possible() {
        return link != null;
    }

    /** Whether what was said before the first batch that came may be asked for. */
    boolean hasHistory() {
        return link != null && link.hasHistory();
    }

    /** Whether what is missing may come without having been asked for. */
    boolean mayStillCome() {
        return link != null && link.mayStillCome();
    }

    /** An answer is on its way. */
    boolean open() {
        return about != null;
    }

    @Nullable About about() {
        return about;
    }

    /** When the newest question was asked. */
    long askedAt() {
        return askedAt;
    }

    /** This publisher is known to answer. */
    void works(boolean works) {
        this.works = works;
    }

    void ask(About about, long from) {
        this.about = about;
        this.from = from;
        askedAt = nanoTime.getAsLong();
        tries = 0;
        send();
    }

    private void send() {
        if (link == null) {
            throw new IllegalStateException("no replay endpoint");
        }
        replies = 0;
        tries++;
        deadline = nanoTime.getAsLong() + timeoutNanos;
        counters.replays.increment();
        tally.add(Of.REPLAYS, 1);
        link.request(from);
    }

    /** A batch has come in answer. */
    void answered() {
        deadline = nanoTime.getAsLong() + timeoutNanos;
        counters.replayedBatches.increment();
        works = true;
        replies++;
    }

    /** This publisher has answered with something, now or before: it keeps its newest batches. */
    boolean works() {
        return works;
    }

    /** It was not asked for all that it has, whether it has changed. */
    boolean mayAskForAll() {
        return about == About.AUDIT && from != 0;
    }

    /** True when the silence has been too long, and asking again has not helped or would not. */
    boolean givenUp(long now) {
        if (now - deadline < 0) {
            return false;
        }
        counters.replayFailures.increment();
        if (replies == 0 && tries < TRIES) {
            send();
            return false;
        }
        return true;
    }

    void close() {
        about = null;
    }
}
