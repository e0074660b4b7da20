package io.warmpath.admission;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The waiting requests of one class: start-time fair queueing between tenants, the class's own
 * order within each. One thread.
 *
 * <p>Each tenant has a tag, in tokens of work for each unit of weight. The tenant with the lowest
 * tag is next; a start raises its tag by the work of the request, and its answers raise it when
 * they have ended. Now is the tag of who started last: whoever begins to wait gets now, or its own
 * tag where that is higher, so nobody saves up while it sends nothing, and nobody loses a debt by a
 * pause.
 *
 * <p>A step costs O(log waiting).
 */
final class FairQueue {
    /**
     * Tenants that are looked at for one whose first request may start: the first requests of the
     * others may be bound to workers that are full.
     */
    static final int LOOKS = 16;

    /** Tenants that do not wait and are in debt; beyond them the smallest debts are forgotten. */
    static final int MOST_DEBTORS = 10_000;

    /** One tenant, while it waits or is in debt. Not to be changed while it is in a set. */
    private static final class Share {
        final String tenant;
        final long number;
        final TreeSet<Ticket> waiting = new TreeSet<>();
        double tag;
        int weight;
        long started;
        long refused;

        Share(String tenant, long number, double tag) {
            this.tenant = tenant;
            this.number = number;
            this.tag = tag;
        }
    }

    private static final Comparator<Share> LOWEST_TAG =
            Comparator.<Share>comparingDouble(s -> s.tag).thenComparingLong(s -> s.number);

    private final Map<String, Share> shares = new HashMap<>();
    private final TreeSet<Share> active = new TreeSet<>(LOWEST_TAG);
    private final TreeSet<Share> debtors = new TreeSet<>(LOWEST_TAG);
    private double now;
    private long numbers;
    private int size;

    int size() {
        return size;
    }

    /** Tenants that wait. */
    int tenants() {
        return active.size();
    }

    /** Requests of this tenant that wait. */
    int size(Tenant tenant) {
        Share share = shares.get(tenant.name());
        return share == null ? 0 : share.waiting.size();
    }

    /** The one of this tenant's requests that goes first; null when none waits. */
    @Nullable Ticket first(Tenant tenant) {
        Share share = shares.get(tenant.name());
        return share == null || share.waiting.isEmpty() ? null : share.waiting.first();
    }

    /** False when it is there already. */
    boolean add(Ticket ticket) {
        Tenant tenant = ticket.claim.tenant();
        Share share = takeOut(tenant.name());
        share.weight = tenant.weight();
        ticket.due = share.waiting.isEmpty() && share.tag <= now;
        share.tag = Math.max(share.tag, now);
        boolean added = share.waiting.add(ticket);
        size += added ? 1 : 0;
        putBack(share);
        return added;
    }

    /** False when it does not wait. */
    boolean remove(Ticket ticket) {
        Share share = shares.get(ticket.claim.tenant().name());
        if (share == null || !share.waiting.contains(ticket)) {
            return false;
        }
        takeOut(share.tenant);
        share.waiting.remove(ticket);
        size--;
        putBack(share);
        return true;
    }

    /**
     * Who is next; it stays. Null: none of those that were looked at may start.
     *
     * @param canStart asked for {@link #LOOKS} tenants at most
     */
    @Nullable Ticket next(Predicate<Ticket> canStart) {
        int looks = 0;
        for (Share share : active) {
            Ticket first = share.waiting.first();
            if (canStart.test(first)) {
                return first;
            }
            if (++looks == LOOKS) {
                return null;
            }
        }
        return null;
    }

    /** It starts: its tenant has had that work. */
    void take(Ticket ticket) {
        Share share = takeOut(ticket.claim.tenant().name());
        now = Math.max(now, share.tag);
        share.tag += (double) ticket.claim.cost() / ticket.claim.tenant().weight();
        share.started++;
        share.waiting.remove(ticket);
        size--;
        putBack(share);
        while (!debtors.isEmpty() && debtors.first().tag <= now) {
            forgetDebtor();
        }
    }

    /** The tenant has had this much work, beside what its requests began with. */
    void used(Tenant tenant, long work) {
        if (size == 0) {
            return; // nobody to be fair to
        }
        Share share = takeOut(tenant.name());
        share.weight = tenant.weight();
        share.tag = Math.max(share.tag, now) + (double) work / tenant.weight();
        putBack(share);
    }

    /** While nobody waits: nobody is in debt any more. */
    void forget() {
        if (size == 0) {
            shares.clear();
            debtors.clear();
            now = 0;
        }
    }

    /** A request of a tenant that waits was refused, as it has its part of the places. */
    void refused(Tenant tenant) {
        Share share = shares.get(tenant.name());
        if (share != null) {
            share.refused++;
        }
    }

    /** Those who wait or are in debt, who waits most first, {@code most} of them. */
    List<TenantShare> shares(int most, long nanos) {
        double weights = active.stream().mapToDouble(s -> s.weight).sum();
        return shares.values().stream()
                .sorted(
                        Comparator.<Share>comparingInt(s -> -s.waiting.size())
                                .thenComparingLong(s -> s.number))
                .limit(most)
                .map(
                        s ->
                                new TenantShare(
                                        s.tenant,
                                        s.weight,
                                        s.waiting.isEmpty() ? 0 : s.weight / weights,
                                        s.waiting.size(),
                                        s.waiting.isEmpty()
                                                ? 0
                                                : nanos - s.waiting.first().arrivedNanos,
                                        s.started,
                                        s.refused))
                .toList();
    }

    private Share takeOut(String tenant) {
        Share share = shares.computeIfAbsent(tenant, t -> new Share(t, numbers++, now));
        active.remove(share);
        debtors.remove(share);
        return share;
    }

    private void putBack(Share share) {
        if (!share.waiting.isEmpty()) {
            active.add(share);
        } else if (share.tag > now) {
            debtors.add(share);
            if (debtors.size() > MOST_DEBTORS) {
                forgetDebtor();
            }
        } else {
            shares.remove(share.tenant);
        }
    }

    private void forgetDebtor() {
        Share least = debtors.pollFirst();
        if (least != null) {
            shares.remove(least.tenant);
        }
    }
}
