package io.warmpath.gateway;

import io.warmpath.routing.RoutingDecision;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The last decisions, in full detail. Any thread; adding is one counter and one write, reading
 * copies references.
 *
 * <p>While it is on, every decision is made and kept with the terms of all its candidates: time and
 * memory in proportion to them.
 */
public final class DecisionLog {
    /** Keeps nothing and costs nothing. */
    public static final DecisionLog OFF = new DecisionLog(0, null, InstantSource.system());

    /**
     * One decision.
     *
     * @param number from 0, without gaps
     */
    public record Logged(
            long number, Instant at, String requestId, String model, RoutingDecision decision) {}

    private final AtomicReferenceArray<@Nullable Logged> ring;
    private final AtomicLong next = new AtomicLong();
    private final @Nullable Consumer<Logged> sink;
    private final InstantSource clock;

    /**
     * @param size decisions that are kept
     * @param sink gets every decision at once; must not wait
     */
    public DecisionLog(int size, @Nullable Consumer<Logged> sink, InstantSource clock) {
        this.ring = new AtomicReferenceArray<>(size);
        this.sink = sink;
        this.clock = clock;
    }

    public boolean isOn() {
        return ring.length() > 0 || sink != null;
    }

    void add(InferenceRequest request, RoutingDecision decision) {
        if (!isOn()) {
            return;
        }
        Logged logged =
                new Logged(
                        next.getAndIncrement(),
                        clock.instant(),
                        request.requestId(),
                        request.model(),
                        decision);
        if (ring.length() > 0) {
            // Two writers of one place are a whole ring apart; the newer one stays.
            ring.accumulateAndGet(
                    (int) (logged.number() % ring.length()),
                    logged,
                    (a, b) -> a != null && b != null && a.number() > b.number() ? a : b);
        }
        if (sink != null) {
            sink.accept(logged);
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
