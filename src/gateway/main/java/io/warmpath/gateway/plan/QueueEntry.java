package io.warmpath.gateway.plan;

import io.vertx.core.Context;
import io.warmpath.access.Visit;
import io.warmpath.admission.Claim;
import io.warmpath.admission.ModelQueue;
import io.warmpath.admission.Tenant;
import io.warmpath.admission.Ticket;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Openings;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.RequestHints;
import io.warmpath.gateway.request.Visits;
import io.warmpath.prefix.PrefixMatch;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request's stay in its model's queue. On the request's event loop; the queue itself is shared
 * by all loops and calls back by way of the loop. A request that is called always reports that it
 * has started, also when its client has gone meanwhile: the next one waits for that.
 */
final class QueueEntry {
    /** What became of a request at the queue. */
    enum Outcome {
        /** It has started, or waits to be called. */
        TAKEN,
        FULL,
        /** Its tenant has its part of the places. */
        OVER_SHARE,
        /** It does not want to wait and would have to. */
        NO_WAIT
    }

    /** What follows the wait. */
    interface Start {
        /**
         * Has booked its load when it returns.
         *
         * @param known the matches that are still fresh enough, or null
         * @param waited since it came
         */
        void now(@Nullable List<PrefixMatch> known, Waited waited);
    }

    private final EntranceParts parts;
    private final InferenceRequest request;
    private final ModelQueue queue;
    private final Supplier<List<Candidate>> who;
    private @Nullable Ticket ticket;
    private long overShareNanos;

    /** {@code who}: may be chosen now, in any state of load; any thread. */
    QueueEntry(
            EntranceParts parts,
            InferenceRequest request,
            ModelQueue queue,
            Supplier<List<Candidate>> who) {
        this.parts = parts;
        this.request = request;
        this.queue = queue;
        this.who = who;
    }

    /**
     * @param mayWait false: it starts at once or not at all
     * @param matches what the index said when the request came
     * @param start the request may start
     */
    Outcome enter(
            Context context,
            boolean mayWait,
            List<Candidate> candidates,
            @Nullable EnginePrompts tokens,
            List<PrefixMatch> matches,
            Start start) {
        RequestHints hints = request.hints();
        int length = tokens == null ? 0 : tokens.length();
        Claim claim =
                new Claim(
                        tenant(context),
                        hints.policyClass(),
                        length,
                        Planner.mostCached(matches, candidates, length),
                        hints.priority(),
                        hints.strictPriority(),
                        this::eligible);
        if (!mayWait && !queue.hasRoom(claim)) {
            return Outcome.NO_WAIT;
        }
        ModelQueue.Entry entry =
                queue.enter(
                        claim,
                        workers(candidates),
                        () -> context.runOnContext(v -> called(matches, start)));
        return switch (entry) {
            case ModelQueue.Entry.Admitted now -> {
                start.now(matches, new Waited(0, now.account()));
                yield Outcome.TAKEN;
            }
            case ModelQueue.Entry.Waiting waiting -> {
                ticket = waiting.ticket();
                parts.metrics().queued();
                yield Outcome.TAKEN;
            }
            case ModelQueue.Entry.Full full -> Outcome.FULL;
            case ModelQueue.Entry.OverShare over -> {
                overShareNanos = over.nanos();
                yield Outcome.OVER_SHARE;
            }
        };
    }

    /** How long the first request of its tenant has waited, after {@link Outcome#OVER_SHARE}. */
    long overShareNanos() {
        return overShareNanos;
    }

    private static Tenant tenant(Context context) {
        Visit visit = Visits.of(context);
        return visit == null
                ? Tenant.NOBODY
                : new Tenant(visit.turnsOf(), visit.caller().grant().weight());
    }

    private void called(List<PrefixMatch> matches, Start start) {
        Ticket mine = ticket;
        if (mine == null) {
            return;
        }
        ticket = null;
        long waited = parts.nanoTime().getAsLong() - mine.arrivedNanos();
        parts.metrics().unqueued(waited);
        long refresh = parts.admission().options().overlapRefresh().toNanos();
        try {
            start.now(
                    refresh > 0 && waited >= refresh ? null : matches,
                    new Waited(waited, queue.account(mine)));
        } finally {
            queue.started(mine);
        }
    }

    /** The client has gone. */
    void leave() {
        Ticket mine = ticket;
        if (mine != null && queue.leave(mine)) {
            ticket = null;
            parts.metrics().unqueued(parts.nanoTime().getAsLong() - mine.arrivedNanos());
        }
    }

    /**
     * Those that have room, as far as they say. Any thread. Null: no worker serves the model any
     * more, so there is nothing to wait for.
     */
    private @Nullable List<Candidate> eligible() {
        List<Candidate> candidates = parts.planner().eligible(request, who.get());
        return candidates.isEmpty()
                ? null
                : withRoom(parts.admission().free(request.model(), candidates));
    }

    /** While all are full there is none. */
    private static List<Candidate> withRoom(List<Candidate> free) {
        List<Candidate> left = Openings.withRoom(free);
        return !left.isEmpty() && left.getFirst().worker().state() == WorkerState.FULL
                ? List.of()
                : left;
    }

    /** A worker's ranks follow each other. */
    private static int workers(List<Candidate> candidates) {
        int workers = 0;
        long last = 0;
        for (int i = 0; i < candidates.size(); i++) {
            long id = candidates.get(i).worker().id();
            workers += i == 0 || id != last ? 1 : 0;
            last = id;
        }
        return workers;
    }
}
