package io.warmpath.gateway.observe;

import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.SessionHeaders;
import io.warmpath.routing.RoutingDecision;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The last decisions, in full detail, and for a {@link Sink} what became of them. Any thread;
 * adding is one counter and one write, reading copies references.
 *
 * <p>While it is on, every decision is made and kept with the terms of all its candidates: time and
 * memory in proportion to them.
 */
public final class DecisionLog {
    /** Keeps nothing and costs nothing. */
    public static final DecisionLog OFF = new DecisionLog(0, null, InstantSource.system());

    /** Number of a decision that is not kept. */
    static final long UNLOGGED = -1;

    /**
     * One decision.
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

    /** Gets everything at once; must not wait. Any thread. */
    public interface Sink {
        void decided(Logged decision);

        /** Not for reservations: whoever made one has the answer. */
        public void ended(Ended end);
    }

    private final AtomicReferenceArray<@Nullable Logged> ring;
    private final AtomicLong next = new AtomicLong();
    private final @Nullable Sink sink;
    private final InstantSource clock;

    /**
     * @param size decisions that are kept
     * @param sink null: none
     */
    public DecisionLog(int size, @Nullable Sink sink, InstantSource clock) {
        this.ring = new AtomicReferenceArray<>(size);
        this.sink = sink;
        this.clock = clock;
    }

    public boolean isOn() {
        return ring.length() > 0 || sink != null;
    }

    /**
     * @return its number, for {@link #ended}; {@link #UNLOGGED} when that is of no interest
     */
    public long add(InferenceRequest request, RoutingDecision decision) {
        if (!isOn()) {
            return UNLOGGED;
        }
        Logged logged =
                new Logged(
                        next.getAndIncrement(),
                        clock.instant(),
                        request.requestId(),
                        SessionHeaders.id(request),
                        request.model(),
                        decision);
        if (ring.length() > 0) {
            // Two writers of one place are a whole ring apart; the newer one stays.
            ring.accumulateAndGet(
                    (int) (logged.number() % ring.length()),
                    logged,
                    (a, b) -> a != null && b != null && a.number() > b.number() ? a : b);
        }
        if (sink == null) {
            return UNLOGGED;
        }
        sink.decided(logged);
        return logged.number();
    }

    /** {@code number} as {@link #add} has answered. */
    public void ended(long number, Ending ending) {
        if (number != UNLOGGED && sink != null) {
            sink.ended(new Ended(number, clock.instant(), ending));
        }
    }

    /** The latest ones, oldest first. */
    public List<Logged> latest(int limit) {
        long end = next.get();
        long begin = Math.max(0, end - Math.min(limit, ring.length()));
        List<Logged> out = new ArrayList<>((int) (end - begin));
        for (long n = begin; n < end; n++) {
            Logged logged = ring.get((int) (n % ring.length()));
            // Another number: overtaken meanwhile, or not yet written.
            if (logged != null && logged.number() == n) {
                out.add(logged);
            }
        }
        return out;
    }
}
