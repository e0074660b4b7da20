package io.warmpath.events;

import io.warmpath.events.ReplayDialogue.About;
import io.warmpath.events.SourceTally.Of;
import io.warmpath.events.WaitingBatches.Batch;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixIndex;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Follows one publisher: order, gaps, replay, restarts, silence, and how far all that can be relied
 * on. Knows no socket and no clock of its own.
 *
 * <p>One thread calls everything but {@link #status} and {@link #computed}, which any thread may.
 * Batches reach the sink in sequence order, each at most once.
 *
 * <p>A replay asks from one batch before the hole. That batch must come back byte for byte; if it
 * differs, or is not there although the publisher has answered replays before, another process is
 * publishing now and the old content is forgotten. The same question is asked of a publisher that
 * has been silent for a while, or whose connection was lost: it finds batches lost in a reconnect
 * that no later batch betrays. Without a replay socket, a missing batch is waited for a moment, as
 * it may only have been overtaken.
 */
public final class SourceSession {
    /**
     * Sends a replay request; nothing may arrive any more of an earlier one that has not ended.
     * Answers come back as calls.
     */
    public interface ReplayLink {
        void request(long fromSequence);

        /**
         * Whether what was said before the first batch that came may be had by asking. Else only
         * holes are asked for.
         */
        default boolean hasHistory() {
            return true;
        }

        /**
         * Whether a batch that is missing may still come by itself, behind later ones: then it is
         * asked for only when this has become false. Asked again with each batch that comes instead
         * and at each tick.
         */
        default boolean mayStillCome() {
            return false;
        }
    }

    /** Told on every change of state, or of what may be believed. */
    public interface Listener {
        void changed(EventView before, SourceStatus now);
    }

    /**
     * @param replayTimeoutNanos silence after which a replay counts as failed
     * @param auditIntervalNanos silence of the live stream after which it is checked by a replay
     * @param stallNanos how long requests may be answered without the events they must cause
     */
    public record Timing(long replayTimeoutNanos, long auditIntervalNanos, long stallNanos) {}

    /** Batches may wait so long to be applied before the source counts as lagging. */
    private static final long LAG_NANOS = 100_000_000;

    private final EventCounters counters;
    private final SourceTally tally = new SourceTally();
    private final Timing timing;
    private final LongSupplier nanoTime;
    private final SourceStanding standing;
    private final StallWatch stall;
    private final SourceOrder order = new SourceOrder();
    private final SourceContent content;
    private final ReplayDialogue replay;
    private final WaitingBatches waiting = new WaitingBatches();

    /** What lies in between may have been overtaken: nobody can be asked, it is waited for. */
    private boolean overtaken;

    private long overtakenUntil;

    /** A batch was applied since something is waited for. */
    private boolean progress;

    private boolean stallChecked;
    private boolean everConnected;
    private long quietSince;
    private boolean behind;
    private long behindSince;
    private long refused;
    private long refusedAt;

    public SourceSession(
            EventSource source,
            PrefixIndex index,
            BatchDecoder decoder,
            EventCounters counters,
            @Nullable ReplayLink link,
            Listener listener,
            Timing timing,
            LongSupplier nanoTime) {
        this(
                source,
                tally -> new DecodedBatches(source, index, decoder, counters, tally),
                counters,
                link,
                listener,
                timing,
                nanoTime);
    }

    /** For batches that go elsewhere than into an index. */
    public SourceSession(
            EventSource source,
            BatchSink sink,
            EventCounters counters,
            @Nullable ReplayLink link,
            Listener listener,
            Timing timing,
            LongSupplier nanoTime) {
        this(source, tally -> sink, counters, link, listener, timing, nanoTime);
    }

    private SourceSession(
            EventSource source,
            Function<SourceTally, BatchSink> sink,
            EventCounters counters,
            @Nullable ReplayLink link,
            Listener listener,
            Timing timing,
            LongSupplier nanoTime) {
        tally.set(Of.SEQUENCE, SourceStatus.NO_SEQUENCE);
        this.counters = counters;
        this.replay =
                new ReplayDialogue(link, counters, tally, timing.replayTimeoutNanos(), nanoTime);
        this.timing = timing;
        this.nanoTime = nanoTime;
        this.standing = new SourceStanding(nanoTime, before -> listener.changed(before, status()));
        this.content =
                new SourceContent(
                        source, sink.apply(tally), counters, tally, order, standing, nanoTime);
        this.quietSince = nanoTime.getAsLong();
        this.stall = new StallWatch(timing.stallNanos(), quietSince);
    }

    /** Any thread. */
    public SourceStatus status() {
        SourceStanding.Now now = standing.now();
        long time = nanoTime.getAsLong();
        long batches = tally.get(Of.BATCHES);
        return new SourceStatus(
                now.state(),
                now.belief(),
                now.why(),
                time - now.since(),
                tally.get(Of.SEQUENCE),
                batches == 0 ? -1 : time - tally.get(Of.NEWEST_AT),
                batches,
                tally.get(Of.DUPLICATES),
                tally.get(Of.GAPS),
                tally.get(Of.REPAIRED),
                tally.get(Of.LOST),
                tally.get(Of.RESTARTS),
                tally.get(Of.REPLAYS),
                tally.get(Of.REJECTED),
                stall.owed(),
                tally.get(Of.STORED_BLOCKS),
                tally.get(Of.REMOVED_BLOCKS),
                tally.get(Of.OFFLOADED_BLOCKS));
    }

    /** A request sent at {@code began} was answered and must cause an event. Any thread. */
    public void computed(long began) {
        stall.computed(began, nanoTime.getAsLong());
    }

    /** True while a replay, or an overtaken batch, is on its way. */
    public boolean replaying() {
        return overtaken || replay.open();
    }

    /**
     * Goes on where another process of ours stopped: the index holds what that one had applied.
     * Before {@link #start}.
     *
     * @param expiryNanos for which it may stay unconfirmed before it is forgotten
     */
    public void resume(SourceMark mark, long expiryNanos) {
        // A process that has said the batch which is asked for cannot answer with nothing.
        replay.works(true);
        content.resume(mark, expiryNanos);
    }

    /** Where to go on after a restart of ours; null before the first batch. */
    public @Nullable SourceMark mark() {
        return content.mark();
    }

    /** The sockets are there: learn what the publisher said before. */
    public void start() {
        if (replay.possible()) {
            askAgain("asking for what was said before");
        }
    }

    /** The connection to the publisher has ended; it is tried again without end. */
    public void disconnected() {
        standing.disconnected = true;
        standing.settle("the connection was lost");
    }

    /** There is a connection: the first, or another one after it was lost. */
    public void connected() {
        boolean again = standing.disconnected;
        everConnected = true;
        standing.disconnected = false;
        standing.unconfirmed |= again && order.started();
        if (replay.possible() && !replaying() && (again || !order.started())) {
            askAgain("connected" + (again ? " again" : ""));
        } else {
            standing.settle("connected again");
        }
    }

    /** Nothing more will come: the source was closed, or could not be handled. */
    public void close(String why) {
        standing.closed = true;
        standing.settle(why);
    }

    /**
     * What carries the events is not there, while the engine may go on: what is known grows old.
     *
     * @param why null: it is there again
     */
    public void away(@Nullable String why) {
        standing.away = why;
        standing.settle(why == null ? "events can come again" : why);
    }

    /**
     * Who passes the events on is there again, after {@link #disconnected}, and itself makes sure
     * that none is missing.
     *
     * @param same it speaks of the same process of the engine as before
     */
    public void rejoined(boolean same) {
        everConnected = true;
        standing.disconnected = false;
        standing.unconfirmed |= !same && order.started();
        standing.settle("connected again");
    }

    /** What came from a file, or before a pause, is known to be of this process of the engine. */
    public void confirm() {
        content.confirm();
        settle("confirmed");
    }

    /** It is known that another process of the engine speaks from now on. */
    public void anotherProcess() {
        overtaken = false;
        replay.close();
        waiting.clear();
        content.forgetProcess();
    }

    /** It is known that the publisher has said more than has come. */
    public void missed(String why) {
        if (replay.possible() && !replaying() && order.started()) {
            askAgain(why);
        }
    }

    /** Nobody is there who could answer the running replay. */
    public void replayRefused() {
        if (replay.open()) {
            counters.replayFailures.increment();
            finish(false);
        }
    }

    /** Whether a batch has been taken, here or by a process before this one. */
    public boolean started() {
        return order.started();
    }

    /** Number of the batch that should come now; once {@link #started}. */
    public long next() {
        return order.next();
    }

    /** {@link SourceMark#fingerprint} of the batch before it. */
    public long lastFingerprint() {
        return order.lastFingerprint();
    }

    /** Batches that wait behind a hole. */
    public int waiting() {
        return waiting.size();
    }

    /** A batch of the live stream. */
    public void live(long sequence, byte[] payload) {
        heard();
        if (refused > 0) {
            refused = 0;
            standing.repairing = false;
            if (sequence == order.next()) {
                tally.add(Of.REPAIRED, 1);
                counters.repaired.increment();
            }
        }
        Batch message = new Batch(sequence, payload);
        if (overtaken) {
            late(message);
        } else if (replay.open()) {
            waiting.add(message);
        } else {
            accept(message, true);
        }
    }

    /** A batch came again whose number was taken before; it was not looked at. */
    void repeated() {
        counters.duplicates.increment();
        tally.add(Of.DUPLICATES, 1);
    }

    /**
     * A batch was refused because those from {@code expected} on have not come; who sent it was
     * told so. The next {@link #live} is the expected one. When it takes too long, all is
     * forgotten.
     */
    void refused(long expected, long sequence) {
        if (refused > 0) {
            return;
        }
        refused = sequence - expected;
        refusedAt = nanoTime.getAsLong();
        counters.gaps.increment();
        tally.add(Of.GAPS, 1);
        standing.repairing = true;
        settle("batches " + range(sequence) + " have not come");
    }

    /**
     * The live stream has been read, as far as its turn allowed.
     *
     * @param more whether some was left
     */
    public void drained(boolean more) {
        long now = nanoTime.getAsLong();
        if (more && !behind) {
            behindSince = now;
        }
        behind = more;
        boolean lags = more && now - behindSince >= LAG_NANOS;
        if (lags != standing.lagging) {
            standing.lagging = lags;
            standing.settle(lags ? "batches come faster than they are applied" : "caught up");
        }
    }

    /**
     * A batch of the live stream that later ones have overtaken, where it is known to be of the
     * same process: its number would else be taken for a restart.
     */
    public void overtaken(long sequence, byte[] payload) {
        if (!replaying() || Long.compareUnsigned(sequence, order.next()) < 0) {
            repeated();
        } else if (sequence != order.next()) {
            waiting.insert(new Batch(sequence, payload));
        } else if (overtaken) {
            late(new Batch(sequence, payload));
        } else {
            take(sequence, payload);
            takeWaiting();
        }
    }

    /** A batch of the running replay. */
    public void replayed(long sequence, byte[] payload) {
        if (!replay.open()) {
            return;
        }
        replay.answered();
        switch (order.replayed(sequence, payload)) {
            case FIRST -> {
                standing.complete = Long.compareUnsigned(sequence, 1) <= 0;
                take(sequence, payload);
            }
            case NEXT -> take(sequence, payload);
            case DUPLICATE -> {}
            case GAP -> {
                content.lose("batches " + range(sequence) + " are gone from its replay buffer");
                take(sequence, payload);
            }
            case RESTART -> restarted();
        }
    }

    /** The publisher has sent all it has. */
    public void replayEnded() {
        if (!replay.open()) {
            return;
        }
        if (order.started() && replay.strangelyEmpty()) {
            // The batch applied last is asked for too, so an empty answer means another process.
            replay.works(false);
            restarted();
            return;
        }
        if (order.started() && replay.saysNothing()) {
            ask(About.AUDIT, 0, "asking for its first batch");
            return;
        }
        if (replay.about() == About.HISTORY && !order.started()) {
            standing.complete = true;
        }
        finish(true);
    }

    /** Looks at the clock; call it now and then. */
    public void tick() {
        long now = nanoTime.getAsLong();
        if (overtaken) {
            if (replay.possible() ? !replay.mayStillCome() : now - overtakenUntil >= 0) {
                waitNoLonger();
            }
        } else if (replay.open()) {
            if (replay.givenUp(now)) {
                finish(false);
            }
        } else if (refused > 0 && now - refusedAt >= timing.replayTimeoutNanos()) {
            long missing = refused;
            refused = 0;
            content.lose(missing + " batches from " + order.next() + " on were not sent again");
        } else if (content.expired(now)) {
            content.lose("what was taken from a file was not confirmed in time");
        } else if (stall.due(now) && standing.silent == null && standing.away == null) {
            stalled();
        } else if (replay.possible()
                && (now - quietSince >= timing.auditIntervalNanos()
                        || (content.restored()
                                && now - replay.askedAt() >= timing.auditIntervalNanos()))) {
            askAgain("silent for a while");
        }
    }

    /** Asks whether the publisher is the same, and what it has said since. */
    private void askAgain(String why) {
        quietSince = nanoTime.getAsLong();
        if (order.started()) {
            ask(About.AUDIT, order.next() - 1, why);
        } else if (replay.hasHistory()) {
            ask(About.HISTORY, 0, why);
        }
    }

    /** Requests were answered and nothing was said about them. */
    private void stalled() {
        if (replay.possible() && !stallChecked) {
            stallChecked = true;
            askAgain("requests are answered but no events come");
            return;
        }
        standing.silent =
                stall.owed()
                        + " requests with new blocks were answered and no event came; check that the"
                        + " engine publishes KV events, and where";
        standing.settle("silent");
    }

    private void heard() {
        long now = nanoTime.getAsLong();
        quietSince = now;
        stallChecked = false;
        stall.heard(now);
        if (standing.silent != null) {
            standing.silent = null;
            standing.settle("events come again");
        }
    }

    private void accept(Batch m, boolean mayAsk) {
        switch (order.live(m.sequence(), m.payload())) {
            case FIRST -> first(m, mayAsk);
            case NEXT -> take(m.sequence(), m.payload());
            case DUPLICATE -> {
                counters.duplicates.increment();
                tally.add(Of.DUPLICATES, 1);
            }
            case GAP -> gap(m, mayAsk);
            case RESTART -> {
                content.forgetProcess();
                // Judged again only to note its number as the newest of the new process.
                order.live(m.sequence(), m.payload());
                first(m, replay.possible());
            }
        }
        if (!replaying()) {
            settle("caught up");
        }
    }

    private void first(Batch m, boolean mayAsk) {
        if (m.sequence() != 0 && replay.hasHistory() && mayAsk) {
            waiting.addFirst(m);
            ask(About.HISTORY, 0, "asking for what was said before");
            return;
        }
        standing.complete = Long.compareUnsigned(m.sequence(), 1) <= 0;
        take(m.sequence(), m.payload());
        settle(
                standing.complete
                        ? "heard from its first batch on"
                        : "heard from batch " + m.sequence() + " on; what was before is not known");
    }

    private void gap(Batch m, boolean mayAsk) {
        if (mayAsk) {
            counters.gaps.increment();
            tally.add(Of.GAPS, 1);
            waiting.addFirst(m);
            standing.repairing = true;
            if (replay.possible() && !replay.mayStillCome()) {
                ask(About.GAP, order.next() - 1, "batches " + range(m.sequence()) + " were missed");
            } else {
                overtaken = true;
                progress = false;
                overtakenUntil = nanoTime.getAsLong() + WaitingBatches.OVERTAKEN_NANOS;
                settle("batches " + range(m.sequence()) + " have not come");
            }
            return;
        }
        content.lose("batches " + range(m.sequence()) + " were missed");
        take(m.sequence(), m.payload());
    }

    /** While something is waited for without having asked. */
    private void late(Batch m) {
        if (m.sequence() != order.next()) {
            waiting.add(m);
            if (replay.possible() ? !replay.mayStillCome() : waiting.tooMany()) {
                waitNoLonger();
            }
            return;
        }
        take(m.sequence(), m.payload());
        takeWaiting();
        if (waiting.isEmpty()) {
            finish(true);
        }
    }

    /** Whatever waits and is the next one. */
    private void takeWaiting() {
        for (Batch next = waiting.remove(order.next());
                next != null;
                next = waiting.remove(order.next())) {
            take(next.sequence(), next.payload());
        }
    }

    /** What has not come by itself is asked for, where somebody can be asked. */
    private void waitNoLonger() {
        if (replay.possible()) {
            overtaken = false;
            ask(About.GAP, order.next() - 1, "batches from " + order.next() + " on were missed");
        } else {
            finish(false);
        }
    }

    private void take(long sequence, byte[] payload) {
        progress = true;
        standing.reading &= replay.about() == About.HISTORY;
        content.take(sequence, payload);
    }

    /** Another process publishes now. */
    private void restarted() {
        content.forgetProcess();
        ask(About.HISTORY, 0, "the engine has restarted");
    }

    private void ask(About about, long from, String why) {
        progress = false;
        standing.reading = about == About.HISTORY;
        settle(why);
        replay.ask(about, from);
    }

    /**
     * Nothing more is waited for: the batches that came meanwhile are applied now.
     *
     * @param well the publisher has told all it has, or the overtaken batch has come
     */
    private void finish(boolean well) {
        boolean moved = progress;
        boolean asked = replay.open();
        boolean history = replay.about() == About.HISTORY;
        overtaken = false;
        replay.close();
        quietSince = nanoTime.getAsLong();
        if (moved && standing.repairing && !history) {
            tally.add(Of.REPAIRED, 1);
            counters.repaired.increment();
        }
        standing.repairing = false;
        if (well && asked) {
            content.confirm();
        }
        // Nobody there yet is no hole.
        standing.reading = !order.started() && !standing.complete && !everConnected;
        while (!replaying() && !waiting.isEmpty()) {
            // A second hole may be asked for only when the last answer brought something, else a
            // publisher whose buffer is empty would be asked for ever.
            accept(waiting.removeFirst(), moved);
        }
        if (replaying()) {
            return;
        }
        if (moved && asked) {
            heard();
        } else if (stallChecked) {
            stalled();
        }
        settle(
                well
                        ? moved ? "all caught up" : "nothing was missed"
                        : "the replay was not answered");
    }

    private void settle(String why) {
        standing.settle(why);
    }

    private String range(long until) {
        long from = order.next();
        return from == until - 1
                ? Long.toUnsignedString(from)
                : Long.toUnsignedString(from) + " to " + Long.toUnsignedString(until - 1);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "next %s, %s, %d waiting",
                order.started() ? Long.toUnsignedString(order.next()) : "unknown",
                standing.now().state(),
                waiting.size());
    }
}
