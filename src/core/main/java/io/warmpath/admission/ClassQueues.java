package io.warmpath.admission;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Deficit round robin between classes. One thread.
 *
 * <p>The turn goes round the classes. A class gains its quantum when the turn comes to it and keeps
 * the turn while its deficit pays for its first request. A class that is empty loses its deficit;
 * one that may not start anything now keeps it and gains nothing. Who of a class is next, {@link
 * FairQueue} says. When a whole round starts nothing the rounds up to the next start are credited
 * at once, so a step costs O(classes + log waiting).
 */
final class ClassQueues {
    private final List<PolicyClass> classes;
    private final List<FairQueue> waiting = new ArrayList<>();
    private final long[] deficits;
    private final long[] rawTokens;
    private final long[] cachedTokens;
    private int turn;
    private int size;

    ClassQueues(List<PolicyClass> classes) {
        this.classes = classes;
        for (int i = 0; i < classes.size(); i++) {
            waiting.add(new FairQueue());
        }
        deficits = new long[classes.size()];
        rawTokens = new long[classes.size()];
        cachedTokens = new long[classes.size()];
        turn = classes.size() - 1; // the first one to gain is the first one
    }

    int size() {
        return size;
    }

    int size(int policyClass) {
        return waiting.get(policyClass).size();
    }

    /** The limit that one more request would break, in words; null when none. */
    @Nullable String overLimit(int policyClass, Claim claim, int workers) {
        PolicyClass c = classes.get(policyClass);
        if (size(policyClass) + 1 > PolicyClass.times(c.requestLimit(), workers)) {
            return "requests";
        }
        if (rawTokens[policyClass] + claim.tokens()
                > PolicyClass.times(c.rawTokenLimit(), workers)) {
            return "prompt tokens";
        }
        return cachedTokens[policyClass] + claim.cachedTokens()
                        > PolicyClass.times(c.cachedTokenLimit(), workers)
                ? "cached tokens"
                : null;
    }

    /**
     * The tenant has as many places as it may have: the free ones times its weight. So one tenant
     * alone has half of the places at most, two have a third each, and there is room for one that
     * comes late.
     */
    boolean hasItsPart(int policyClass, Tenant tenant, int workers) {
        long limit = PolicyClass.times(classes.get(policyClass).requestLimit(), workers);
        if (limit == PolicyClass.NO_LIMIT || !tenant.isKnown()) {
            return false;
        }
        FairQueue queue = waiting.get(policyClass);
        return queue.size(tenant) >= tenant.weight() * (limit - queue.size());
    }

    /** While nobody waits: what tenants have had is no debt any more. */
    void forget() {
        waiting.forEach(FairQueue::forget);
    }

    FairQueue queue(int policyClass) {
        return waiting.get(policyClass);
    }

    void add(Ticket ticket) {
        if (waiting.get(ticket.policyClass).add(ticket)) {
            count(ticket, 1);
        }
    }

    /** False when it does not wait. */
    boolean remove(Ticket ticket) {
        boolean was = waiting.get(ticket.policyClass).remove(ticket);
        if (was) {
            left(ticket);
        }
        return was;
    }

    /**
     * Takes the next one to start. {@code canStart}: whether a request may start now; asked for the
     * first ones of a class's tenants.
     */
    @Nullable Ticket next(Predicate<Ticket> canStart) {
        @Nullable Ticket[] open = new @Nullable Ticket[classes.size()];
        boolean any = false;
        for (int i = 0; i < open.length; i++) {
            open[i] = waiting.get(i).next(canStart);
            any |= open[i] != null;
        }
        if (!any) {
            return null;
        }
        Ticket now = open[turn];
        if (now != null && affords(turn, now)) {
            return take(now);
        }
        while (true) {
            for (int step = 0; step < open.length; step++) {
                turn = (turn + 1) % open.length;
                Ticket first = open[turn];
                if (first != null) {
                    deficits[turn] += classes.get(turn).quantum();
                    if (affords(turn, first)) {
                        return take(first);
                    }
                }
            }
            skipRounds(open);
        }
    }

    /** All rounds but the last before something can start. */
    private void skipRounds(@Nullable Ticket[] open) {
        long rounds = Long.MAX_VALUE;
        for (int i = 0; i < open.length; i++) {
            Ticket first = open[i];
            if (first != null) {
                long missing = first.claim.cost() - deficits[i];
                rounds = Math.min(rounds, Math.ceilDiv(missing, classes.get(i).quantum()));
            }
        }
        for (int i = 0; i < open.length; i++) {
            if (open[i] != null) {
                deficits[i] += (rounds - 1) * classes.get(i).quantum();
            }
        }
    }

    private boolean affords(int policyClass, Ticket first) {
        return deficits[policyClass] >= first.claim.cost();
    }

    private Ticket take(Ticket ticket) {
        int c = ticket.policyClass;
        waiting.get(c).take(ticket);
        deficits[c] -= ticket.claim.cost();
        left(ticket);
        return ticket;
    }

    private void left(Ticket ticket) {
        count(ticket, -1);
        if (size(ticket.policyClass) == 0) {
            deficits[ticket.policyClass] = 0;
        }
    }

    private void count(Ticket ticket, int sign) {
        size += sign;
        rawTokens[ticket.policyClass] += (long) sign * ticket.claim.tokens();
        cachedTokens[ticket.policyClass] += (long) sign * ticket.claim.cachedTokens();
    }
}
