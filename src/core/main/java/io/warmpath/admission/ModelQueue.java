package io.warmpath.admission;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one model that wait for a rank with room. Any thread; a short lock. One request
 * at a time leaves the queue: the next one is looked for when it has {@link #started}, because only
 * then its load is booked. Whoever is told to start must say so, also when it does not start after
 * all. Nobody waits while nothing is exceeded: then {@link #enter} takes no lock.
 */
public final class ModelQueue {
    /** What became of a request that wanted to enter. */
    public sealed interface Entry {
        /** It may start at once. */
        record Admitted(Account account) implements Entry {}

        /** Its start is called later, on any thread; or it leaves by {@link #leave}. */
        record Waiting(Ticket ticket) implements Entry {}

        /** The queue is full. */
        record Full(String policyClass, String limit) implements Entry {}

        /**
         * Its tenant has its part of the queue.
         *
         * @param nanos how long the first of the tenant's requests has waited
         */
        record OverShare(long nanos) implements Entry {}
    }

    /** Tenants are held apart for this long after the last time that they took turns. */
    static final long CONTENDED_NANOS = 10_000_000_000L;

    /** A token of an answer is as much work as this many of a prompt. */
    static final int ANSWER_TOKEN_WORK = 2;

    /** Whom the answer of a request is charged to. Holds nothing of the request. Any thread. */
    public final class Account {
        private final int policyClass;
        private final Tenant tenant;

        private Account(int policyClass, Tenant tenant) {
            this.policyClass = policyClass;
            this.tenant = tenant;
        }

        /** The answer has had so many tokens; not above 0: nothing is known. */
        public void answered(long tokens) {
            if (waiting > 0 && tokens > 0) {
                synchronized (ModelQueue.this) {
                    queues.queue(policyClass).used(tenant, tokens * ANSWER_TOKEN_WORK);
                }
            }
        }
    }

    private final Policies policies;
    private final LoadBook loads;
    private final int defaultBatch;
    private final LongSupplier nanoTime;
    private final long bornNanos;
    private final ClassQueues queues;
    // Whether several tenants send: written by all threads, each write as good as the other.
    private volatile String lastTenant = "";
    private volatile long changedNanos;
    private volatile boolean changed;
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
        seen(claim.tenant());
        if (waiting == 0 && hasRoom(policyClass, claim, contended())) {
            return new Entry.Admitted(new Account(policyClass, claim.tenant()));
        }
        Ticket ticket;
        synchronized (this) {
            if (!contended()) {
                queues.forget(); // what one has used while nobody else wanted it
            }
            String over = queues.overLimit(policyClass, claim, workers);
            if (over != null) {
                return new Entry.Full(policies.classes().get(policyClass).name(), over);
            }
            long now = nanoTime.getAsLong();
            if (queues.hasItsPart(policyClass, claim.tenant(), workers)) {
                FairQueue queue = queues.queue(policyClass);
                queue.refused(claim.tenant());
                Ticket first = queue.first(claim.tenant());
                return new Entry.OverShare(first == null ? 0 : now - first.arrivedNanos);
            }
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
                && hasRoom(
                        policies.classOf(claim.family(), claim.uncachedTokens()),
                        claim,
                        contended());
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
            next = queues.next(t -> hasRoom(t.policyClass, t.claim, !t.due && contended()));
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

    /** Whom the answer of a request that has waited is charged to. */
    public Account account(Ticket ticket) {
        return new Account(ticket.policyClass, ticket.claim.tenant());
    }

    /** How tenants stand, by class; {@code most} of each class, who waits most first. */
    public synchronized Map<String, List<TenantShare>> shares(int most) {
        Map<String, List<TenantShare>> all = new LinkedHashMap<>();
        for (int i = 0; i < policies.classes().size(); i++) {
            all.put(
                    policies.classes().get(i).name(),
                    queues.queue(i).shares(most, nanoTime.getAsLong()));
        }
        return all;
    }

    /** Requests that wait. */
    public int size() {
        return waiting;
    }

    private void seen(Tenant tenant) {
        String last = lastTenant;
        if (!tenant.name().equals(last)) {
            lastTenant = tenant.name();
            if (!last.isEmpty()) {
                changedNanos = nanoTime.getAsLong();
                changed = true;
            }
        }
    }

    /** More than one tenant has sent something lately. */
    private boolean contended() {
        return changed && nanoTime.getAsLong() - changedNanos < CONTENDED_NANOS;
    }

    /**
     * Some rank that the request may go to is not full, or there is none to wait for.
     *
     * @param ahead its tenant has had its turn, and others want theirs
     */
    private boolean hasRoom(int policyClass, Claim claim, boolean ahead) {
        PolicyClass own = policies.classes().get(policyClass);
        PolicyClass.Threshold threshold = ahead ? own.threshold().whenAhead() : own.threshold();
        List<Candidate> eligible = claim.eligible().get();
        if (eligible == null) {
            return true;
        }
        for (int i = 0; i < eligible.size(); i++) {
            Candidate c = eligible.get(i);
            if (!threshold.exceeded(loads.load(c.slot()), c.worker(), defaultBatch)) {
                return true;
            }
        }
        return false;
    }
}
