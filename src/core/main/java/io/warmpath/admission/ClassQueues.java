package io.warmpath.admission;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Deficit round robin between classes. One thread.
 *
 * <p>The turn goes round the classes. A class gains its quantum when the turn comes to it and keeps
 * the turn while its deficit pays for its first request. A class that is empty loses its deficit;
 * one that may not start anything now keeps it and gains nothing. When a whole round starts nothing
 * the rounds up to the next start are credited at once, so a step costs O(classes + log waiting).
 */
final class ClassQueues {
    private final List<PolicyClass> classes;
    private final List<TreeSet<Ticket>> waiting = new ArrayList<>();
    private final long[] deficits;
    private final long[] rawTokens;
    private final long[] cachedTokens;
    private int turn;
    private int size;

    ClassQueues(List<PolicyClass> classes) {
        this.classes = classes;
        for (int i = 0; i < classes.size(); i++) {
            waiting.add(new TreeSet<>());
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

    void add(Ticket ticket) {
        if (waiting.get(ticket.policyClass).add(ticket)) {
            count(ticket, 1);
        }
    }

    /** False when it does not wait. */
    boolean remove(Ticket ticket) {
        int c = ticket.policyClass;
        if (!waiting.get(c).remove(ticket)) {
            return false;
        }
        count(ticket, -1);
        if (waiting.get(c).isEmpty()) {
            deficits[c] = 0;
        }
        return true;
    }

    /**
     * Takes the next one to start.
     *
     * @param canStart whether the first of a class may start now; asked once per class at most
     */
    @Nullable Ticket next(Predicate<Ticket> canStart) {
        boolean[] open = new boolean[classes.size()];
        boolean any = false;
        for (int i = 0; i < open.length; i++) {
            open[i] = !waiting.get(i).isEmpty() && canStart.test(waiting.get(i).first());
            any |= open[i];
        }
        if (!any) {
            return null;
        }
        if (open[turn] && affords(turn)) {
            return take(turn);
        }
        while (true) {
            for (int step = 0; step < open.length; step++) {
                turn = (turn + 1) % open.length;
                if (open[turn]) {
                    deficits[turn] += classes.get(turn).quantum();
                    if (affords(turn)) {
                        return take(turn);
                    }
                }
            }
            skipRounds(open);
        }
    }

    /** All rounds but the last before something can start. */
    private void skipRounds(boolean[] open) {
        long rounds = Long.MAX_VALUE;
        for (int i = 0; i < open.length; i++) {
            if (open[i]) {
                long missing = waiting.get(i).first().claim.cost() - deficits[i];
                rounds = Math.min(rounds, Math.ceilDiv(missing, classes.get(i).quantum()));
            }
        }
        for (int i = 0; i < open.length; i++) {
            if (open[i]) {
                deficits[i] += (rounds - 1) * classes.get(i).quantum();
            }
        }
    }

    private boolean affords(int policyClass) {
        return deficits[policyClass] >= waiting.get(policyClass).first().claim.cost();
    }

    private Ticket take(int policyClass) {
        Ticket first = waiting.get(policyClass).first();
        deficits[policyClass] -= first.claim.cost();
        remove(first);
        return first;
    }

    private void count(Ticket ticket, int sign) {
        size += sign;
        rawTokens[ticket.policyClass] += (long) sign * ticket.claim.tokens();
        cachedTokens[ticket.policyClass] += (long) sign * ticket.claim.cachedTokens();
    }
}
