package io.warmpath.admission;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one model that wait for a rank with room. Any thread; a short lock.
 *
 * <p>One request at a time leaves the queue: the next one is looked for when it has {@link
 * #started}, because only then its load is booked. Whoever is told to start must say so, also when
 * it does not start after all. Nobody waits while nothing is exceeded: then {@link #enter} takes no
 * lock.
 */
public final class ModelQueue {
    /** What became of a request that wanted to enter. */
    public sealed interface Entry {
        /** It may start at once. */
        record Admitted() implements Entry {}

        /** Its start is called later, on any thread; or it leaves by {@link #leave}. */
        record Waiting(Ticket ticket) implements Entry {}

        /** The queue is full. */
        record Full(String policyClass, String limit) implements Entry {}
    }

    private static final Entry ADMITTED = new Entry.Admitted();

    private final Policies policies;
    private final LoadBook loads;
    private final int defaultBatch;
    private final LongSupplier nanoTime;
    private final long bornNanos;
    private final ClassQueues queues;
    private long tickets;
    private @Nullable Ticket starting;

    /** Written under the lock; lets those who find nobody waiting go by without it. */
    private volatile int waiting;

    ModelQueue(Policies policies, LoadBook loads, int defaultBatch, LongSupplier nanoTime) {
        this.policies = policies;
        this.loads = loads;
        this.defaultBatch = defaultBatch;
        this.nanoTime = nanoTime;
        this.bornNanos = nanoTime.getAsLong();
        this.queues = new ClassQueues(policies.classes());
    }

    /**
     * @param workers that serve the model, for the limits
     * @param start must return at once
     */
    public Entry enter(Claim claim, int workers, Runnable start) {
        int policyClass = policies.classOf(claim.family(), claim.uncachedTokens());
        if (waiting == 0 && hasRoom(policyClass, claim)) {
            return ADMITTED;
        }
        Ticket ticket;
        synchronized (this) {
            String over = queues.overLimit(policyClass, claim, workers);
            if (over != null) {
                return new Entry.Full(policies.classes().get(policyClass).name(), over);
            }
            long now = nanoTime.getAsLong();
            double key =
                    policies.classes()
                            .get(policyClass)
                            .policy()
                            .key(claim.priority(), (now - bornNanos) / 1e9, claim.uncachedTokens());
            ticket = new Ticket(claim, policyClass, now, key, tickets++, start);
            queues.add(ticket);
            waiting = queues.size();
        }
        wake();
        return new Entry.Waiting(ticket);
    }

    /** It may start at once: nobody waits, and some rank has room. Takes no place. */
    public boolean hasRoom(Claim claim) {
        return waiting == 0
                && hasRoom(policies.classOf(claim.family(), claim.uncachedTokens()), claim);
    }

    /** Load went down, or the fleet changed: starts the next one if there is room. */
    public void wake() {
        if (waiting == 0) {
            return;
        }
        Ticket next;
        synchronized (this) {
            if (starting != null) {
                return; // it wakes the next one itself
            }
            next = queues.next(t -> hasRoom(t.policyClass, t.claim));
            starting = next;
            waiting = queues.size();
        }
        if (next != null) {
            next.start.run();
        }
    }

    /** The request has booked its load, or has given up. */
    public void started(Ticket ticket) {
        synchronized (this) {
            if (starting == null || !starting.equals(ticket)) {
                return;
            }
            starting = null;
        }
        wake();
    }

    /**
     * The request does not want to start any more.
     *
     * @return false when it has been told to start already; then {@link #started} is still due
     */
    public boolean leave(Ticket ticket) {
        boolean was;
        synchronized (this) {
            was = queues.remove(ticket);
            waiting = queues.size();
        }
        if (was) {
            wake(); // whoever stood behind it may start
        }
        return was;
    }

    /** Requests that wait. */
    public int size() {
        return waiting;
    }

    /** Some rank that the request may go to is not full, or there is none to wait for. */
    private boolean hasRoom(int policyClass, Claim claim) {
        PolicyClass.Threshold threshold = policies.classes().get(policyClass).threshold();
        List<Candidate> eligible = claim.eligible().get();
        if (eligible == null) {
            return true;
        }
        for (int i = 0; i < eligible.size(); i++) {
            Candidate c = eligible.get(i);
            if (!threshold.exceeded(
                    loads.load(c.slot()).prefillTokens(), c.worker(), defaultBatch)) {
                return true;
            }
        }
        return false;
    }
}
