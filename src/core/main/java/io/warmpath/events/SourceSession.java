package io.warmpath.events;

import io.warmpath.events.SourceTally.Of;
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

    private final SourceTally tally = new SourceTally();
    private final EventCounters counters;
    private final Timing timing;
    private final LongSupplier nanoTime;
    private final SourceStanding standing;
    private final SourceOrder order = new SourceOrder();
    private final SourceContent content;
    private final ReplayDialogue replay;
    private final SourceSilence silence;
    private final OrderedDelivery delivery;
    private final RefusedBatches refused;
    private final LagWatch lag;

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
        this.silence = new SourceSilence(standing, timing.stallNanos(), nanoTime.getAsLong());
        this.delivery =
                new OrderedDelivery(
                        order, content, standing, silence, replay, counters, tally, nanoTime);
        this.refused = new RefusedBatches(standing, counters, tally, timing.replayTimeoutNanos());
        this.lag = new LagWatch(standing);
    }

    /** Any thread. */
    public SourceStatus status() {
        return tally.status(standing.now(), silence.owed(), nanoTime.getAsLong());
    }

    /** Any thread. */
    public EventView state() {
        return standing.now().state();
    }

    /** A request sent at {@code began} was answered and must cause an event. Any thread. */
    public void computed(long began) {
        silence.computed(began, nanoTime.getAsLong());
    }

    /** True while a replay, or an overtaken batch, is on its way. */
    public boolean replaying() {
        return delivery.replaying();
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
            delivery.askAgain("asking for what was said before");
        }
    }

    /** The connection to the publisher has ended; it is tried again without end. */
    public void disconnected() {
        disconnected("the connection was lost");
    }

    /** As {@link #disconnected()}, for a reason that is worth telling. */
    public void disconnected(String why) {
        standing.disconnected = true;
        delivery.disconnected();
        standing.settle(why);
    }

    /**
     * There is a connection: the first, or another one after it was lost. Then who is there now is
     * the same process when the batch applied last comes again as it was. Where nobody can be asked
     * a number that fits is believed, and the source is no longer called exact.
     */
    public void connected() {
        boolean again = standing.disconnected;
        delivery.connected();
        standing.disconnected = false;
        if (again) {
            content.doubt();
        }
        // What was asked before the connection was lost proves nothing of who is there now.
        if (replay.possible() && (again || (!replaying() && !order.started()))) {
            delivery.askAgain("connected" + (again ? " again" : ""));
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
        delivery.connected();
        standing.disconnected = false;
        standing.unconfirmed |= !same && order.started();
        standing.settle("connected again");
    }

    /** What came from a file, or before a pause, is known to be of this process of the engine. */
    public void confirm() {
        content.vouched();
        standing.settle("confirmed");
    }

    /** It is known that another process of the engine speaks from now on. */
    public void anotherProcess() {
        delivery.anotherProcess();
    }

    /** It is known that the publisher has said more than has come. */
    public void missed(String why) {
        if (replay.possible() && !replaying() && order.started()) {
            delivery.askAgain(why);
        }
    }

    /** Nobody is there who could answer the running replay. */
    public void replayRefused() {
        delivery.replayRefused();
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
        return delivery.waiting();
    }

    /** A batch of the live stream. */
    public void live(long sequence, byte[] payload) {
        silence.heard(nanoTime.getAsLong());
        refused.came(sequence == order.next());
        delivery.live(sequence, payload);
    }

    /**
     * A message came that is none of a publisher of events.
     *
     * @param form what came, and what should have
     */
    public void unusable(String form) {
        counters.badFrame();
        tally.add(Of.REJECTED, 1);
        silence.unusable(form);
    }

    /** A batch came again whose number was taken before; it was not looked at. */
    void repeated() {
        delivery.duplicate();
    }

    /**
     * A batch was refused because those from {@code expected} on have not come; who sent it was
     * told so. The next {@link #live} is the expected one. When it takes too long, all is
     * forgotten.
     */
    void refused(long expected, long sequence) {
        refused.refused(
                sequence - expected,
                "batches " + delivery.range(sequence) + " have not come",
                nanoTime.getAsLong());
    }

    /**
     * The live stream has been read, as far as its turn allowed.
     *
     * @param more whether some was left
     */
    public void drained(boolean more) {
        lag.drained(more, nanoTime.getAsLong());
    }

    /**
     * A batch of the live stream that later ones have overtaken, where it is known to be of the
     * same process: its number would else be taken for a restart.
     */
    public void overtaken(long sequence, byte[] payload) {
        delivery.overtaken(sequence, payload);
    }

    /** A batch of the running replay. */
    public void replayed(long sequence, byte[] payload) {
        delivery.replayed(sequence, payload);
    }

    /** The publisher has sent all it has. */
    public void replayEnded() {
        delivery.replayEnded();
    }

    /** Looks at the clock; call it now and then. */
    public void tick() {
        long now = nanoTime.getAsLong();
        if (delivery.tick(now)) {
            return;
        }
        if (refused.overdue(now)) {
            content.lose(
                    refused.giveUp() + " batches from " + order.next() + " on were not sent again");
        } else if (content.expired(now)) {
            content.lose("what was taken from a file was not confirmed in time");
        } else if (silence.stalls(now)) {
            stalled();
        } else if (replay.possible()
                && (silence.longerThan(timing.auditIntervalNanos(), now)
                        || (content.restored()
                                && now - replay.askedAt() >= timing.auditIntervalNanos()))) {
            delivery.askAgain("silent for a while");
        }
    }

    /** Requests were answered and nothing was said about them. */
    private void stalled() {
        if (replay.possible() && silence.mayAsk()) {
            delivery.askAgain("requests are answered but no events come");
        } else {
            silence.freeze();
        }
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "next %s, %s, %d waiting",
                order.started() ? Long.toUnsignedString(order.next()) : "unknown",
                standing.now().state(),
                delivery.waiting());
    }
}
