package io.warmpath.fleet;

import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/**
 * Which workers may get one more request: one on trial only while it has none, one that has just
 * come back a share of the requests that grows to all of them. Any thread. While nobody is limited
 * this is one look and the snapshot's own list. Two event loops may both find a worker on trial
 * idle; it has two requests then, for once.
 */
public final class Openings {
    /** Nobody is limited. */
    static final Openings FREE = new Openings(() -> 0, () -> 0, slot -> 0, Duration.ZERO, 1);

    /** Of the requests, at the beginning. */
    private static final double FIRST_SHARE = 0.1;

    private final LongSupplier nanoTime;
    private final DoubleSupplier random;
    private final ToLongFunction<WorkerSlot> running;
    private final long slowStartNanos;
    private final double panicShare;

    /**
     * @param random 0 to 1
     * @param running this gateway's requests on a slot
     * @param slowStart how long a worker that came back takes until it gets its full share
     * @param panicShare of a model's workers that look bad, from which on all are tried
     */
    public Openings(
            LongSupplier nanoTime,
            DoubleSupplier random,
            ToLongFunction<WorkerSlot> running,
            Duration slowStart,
            double panicShare) {
        this.nanoTime = nanoTime;
        this.random = random;
        this.running = running;
        this.slowStartNanos = slowStart.toNanos();
        this.panicShare = panicShare;
    }

    long now() {
        return nanoTime.getAsLong();
    }

    double panicShare() {
        return panicShare;
    }

    /** One request's luck, kept for all its looks: who looks often must not get in more often. */
    double draw() {
        return random.getAsDouble();
    }

    List<Candidate> of(FleetSnapshot fleet, String model, double draw) {
        List<Candidate> all = fleet.candidates(model);
        if (!fleet.limited()) {
            return all;
        }
        if (fleet.panics(model)) {
            return withRoom(all);
        }
        long now = now();
        List<Candidate> open = new ArrayList<>(all.size());
        for (Candidate c : all) {
            if (isOpen(fleet, c.worker(), now, draw)) {
                open.add(c);
            }
        }
        return open.isEmpty() ? withRoom(all) : open.size() == all.size() ? all : open;
    }

    /** Without those whose queues are full, if any are left then; else the same list. */
    public static List<Candidate> withRoom(List<Candidate> all) {
        int full = 0;
        for (int i = 0; i < all.size(); i++) {
            full += all.get(i).worker().state() == WorkerState.FULL ? 1 : 0;
        }
        return full == 0 || full == all.size()
                ? all
                : all.stream().filter(c -> c.worker().state() != WorkerState.FULL).toList();
    }

    private boolean isOpen(FleetSnapshot fleet, Worker w, long now, double draw) {
        return switch (w.state()) {
            case FULL -> false;
            case TRIAL -> isIdle(w);
            default -> draw < share(fleet, w.id(), now);
        };
    }

    private boolean isIdle(Worker w) {
        for (Worker.Rank r : w.ranks()) {
            if (running.applyAsLong(r.slot()) > 0) {
                return false;
            }
        }
        return true;
    }

    private double share(FleetSnapshot fleet, long worker, long now) {
        FleetSnapshot.Standing standing = fleet.standing(worker);
        if (standing == null || !standing.ramps() || slowStartNanos == 0) {
            return 1;
        }
        double passed = (now - standing.rampFromNanos()) / (double) slowStartNanos;
        return Math.max(FIRST_SHARE, passed);
    }

    /** Why a request may not go to a worker that takes requests; empty when it may. */
    String whyNot(FleetSnapshot fleet, Worker w) {
        if (w.state() == WorkerState.TRIAL) {
            return "on trial: one request at a time";
        }
        if (w.state() == WorkerState.FULL) {
            return "full: its queue takes no more";
        }
        double share = share(fleet, w.id(), now());
        return share >= 1 ? "" : "slow start: takes %.0f %% of the requests".formatted(100 * share);
    }
}
