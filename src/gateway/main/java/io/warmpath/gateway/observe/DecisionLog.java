package io.warmpath.gateway.observe;

import io.warmpath.gateway.observe.KeptDecision.End;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.SessionHeaders;
import io.warmpath.journal.Journal;
import io.warmpath.journal.Rate;
import io.warmpath.routing.RoutingDecision;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The last decisions and how they ended, within bounds; and for a {@link Sink} all of them as they
 * are made. Any thread; adding takes less than a microsecond, reading copies references. Decisions
 * with the terms of all candidates take time and memory in proportion to them: they are made as
 * long as a number of candidates a second allows it, and always for a sink.
 */
public final class DecisionLog {
    /** Keeps nothing and costs nothing. */
    public static final DecisionLog OFF =
            new DecisionLog(new Bounds(0, 0, 0, 0), null, InstantSource.system(), System::nanoTime);

    /**
     * @param decisions that are kept; 0: none
     * @param bytes that they may take
     * @param perSecond decisions that are kept; what comes faster is left out
     * @param termsPerSecond candidates whose terms are kept
     */
    public record Bounds(int decisions, long bytes, int perSecond, int termsPerSecond) {}

    /** What is wanted of a decision that is about to be made. */
    public enum Wanted {
        NOTHING(false, false),
        /** All terms, for the sink alone: too many were kept lately. */
        TO_TELL(true, false),
        /** The costs that were compared. */
        COSTS(false, true),
        TERMS(true, true);

        private final boolean terms;
        private final boolean kept;

        Wanted(boolean terms, boolean kept) {
            this.terms = terms;
            this.kept = kept;
        }

        /** The terms of all candidates. */
        public boolean terms() {
            return terms;
        }
    }

    /**
     * One decision, whole.
     *
     * @param number from 0, without gaps
     * @param session as the client names it; empty when it does not
     */
    public record Logged(
            long number,
            Instant at,
            String requestId,
            String session,
            String model,
            RoutingDecision decision) {}

    /**
     * A worker has nothing more to do with a request.
     *
     * @param number of the decision that sent it there; twice when the same worker was asked again
     *     over a new connection, the second one counts
     * @param ending how it went
     */
    public record Ended(long number, Instant at, Ending ending) {}

    /**
     * How one worker's answer went. Numbers that are not known are negative.
     *
     * @param status of its answer; 0: none came
     * @param promptTokens as the engine counted
     * @param outputTokens as the engine counted, else the events of a stream
     * @param counted the engine has counted them
     * @param cachedTokens as the engine reported
     * @param firstTokenNanos since it was sent
     * @param nanos since it was sent
     */
    public record Ending(
            int status,
            long promptTokens,
            long outputTokens,
            boolean counted,
            long cachedTokens,
            long firstTokenNanos,
            long nanos) {}

    /** A decision that is to be told how it ended. {@code kept}: null: for the sink alone. */
    public record Noted(long number, @Nullable KeptDecision kept) {}

    /** Gets everything at once; must not wait. Any thread. */
    public interface Sink {
        void decided(Logged decision);

        /** Not for reservations: whoever made one has the answer. */
        public void ended(Ended end);
    }

    /**
     * What is kept now.
     *
     * @param leftOut decisions that came too fast, since the start
     * @param since of the oldest one; null: none is kept
     */
    public record Held(int decisions, long bytes, long leftOut, @Nullable Instant since) {}

    private final Bounds bounds;
    private final Journal<KeptDecision> journal;
    private final Rate rate;
    private final Rate terms;
    private final AtomicLong next = new AtomicLong();
    private final LongAdder leftOut = new LongAdder();
    private final DecisionFeed feed = new DecisionFeed();
    private final @Nullable Sink sink;
    private final InstantSource clock;
    private final LongSupplier nanoTime;

    /** {@code sink}: null: none. {@code nanoTime}: as {@link System#nanoTime}. */
    public DecisionLog(
            Bounds bounds, @Nullable Sink sink, InstantSource clock, LongSupplier nanoTime) {
        this.bounds = bounds;
        this.journal = new Journal<>(bounds.decisions, bounds.bytes);
        this.rate = new Rate(bounds.perSecond, nanoTime.getAsLong());
        this.terms = new Rate(bounds.termsPerSecond, nanoTime.getAsLong());
        this.sink = sink;
        this.clock = clock;
        this.nanoTime = nanoTime;
    }

    public Bounds bounds() {
        return bounds;
    }

    /** Decisions are kept, or told to a sink. */
    public boolean isOn() {
        return bounds.decisions > 0 || sink != null;
    }

    /** Before a decision is made, once: takes its part of the bounds. */
    public Wanted wanted(int candidates) {
        if (bounds.decisions == 0) {
            return sink == null ? Wanted.NOTHING : Wanted.TO_TELL;
        }
        long now = nanoTime.getAsLong();
        if (!rate.take(1, now)) {
            leftOut.increment();
            return sink == null ? Wanted.NOTHING : Wanted.TO_TELL;
        }
        return sink != null || terms.take(candidates, now) ? Wanted.TERMS : Wanted.COSTS;
    }

    /**
     * @param wanted as {@link #wanted} has answered
     * @return for {@link #ended}; null when that is of no interest
     */
    public @Nullable Noted add(
            InferenceRequest request, Occasion occasion, RoutingDecision decision, Wanted wanted) {
        if (wanted == Wanted.NOTHING) {
            return null;
        }
        long number = next.getAndIncrement();
        Instant now = clock.instant();
        KeptDecision kept = null;
        if (wanted.kept) {
            KeptDecision entry = KeptDecision.of(number, now, request, occasion, decision);
            if (journal.add(entry, entry.heapBytes())) {
                kept = entry;
                feed.offer(entry, null);
            } else {
                leftOut.increment();
            }
        }
        if (sink != null) {
            sink.decided(
                    new Logged(
                            number,
                            now,
                            request.requestId(),
                            SessionHeaders.id(request),
                            request.model(),
                            decision));
        }
        return new Noted(number, kept);
    }

    /**
     * @param decided as {@link #add} has answered
     * @param problem why there is no whole answer; empty when there is
     */
    public void ended(@Nullable Noted decided, String problem, Ending ending) {
        if (decided == null) {
            return;
        }
        Instant now = clock.instant();
        KeptDecision kept = decided.kept;
        if (kept != null) {
            End end = new End(now, problem, ending);
            kept.last().set(end);
            feed.offer(kept, end);
        }
        if (sink != null) {
            sink.ended(new Ended(decided.number, now, ending));
        }
    }

    /** The kept ones, newest first. */
    public List<KeptDecision> latest(int limit) {
        return journal.latest(limit);
    }

    public Held held() {
        Journal.Held<KeptDecision> held = journal.held();
        KeptDecision oldest = held.oldest();
        return new Held(
                held.kept(), held.bytes(), leftOut.sum(), oldest == null ? null : oldest.at());
    }

    /** Decisions that came too fast to be kept, or were too large. */
    public long leftOut() {
        return leftOut.sum();
    }

    /** What is kept, as it comes. */
    public DecisionFeed feed() {
        return feed;
    }
}
