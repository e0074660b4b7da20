package io.warmpath.session;

import io.warmpath.fleet.Candidate;
import java.util.List;
import java.util.function.Predicate;

/**
 * Leaves of a turn's candidates the one that its session belongs to. Any thread, no waiting. A
 * session is bound to the rank its first turn is sent to, and moves for good when that rank is no
 * longer a candidate (draining, unhealthy, gone) or has failed the turn.
 */
public final class Affinity {
    private final AffinityOptions options;
    private final Rendezvous rendezvous;
    private final SessionTable table;

    public Affinity(AffinityOptions options, Rendezvous rendezvous, SessionTable table) {
        this.options = options;
        this.rendezvous = rendezvous;
        this.table = table;
    }

    /** For gateways that bind nothing. */
    public static Affinity off() {
        return new Affinity(
                AffinityOptions.OFF,
                new Rendezvous((b, seed) -> seed),
                new SessionTable(AffinityOptions.OFF, () -> 0));
    }

    public boolean on() {
        return options.on();
    }

    /**
     * @param candidates that the client's pins and the workers' taints leave
     * @param free whether a rank takes requests now
     * @return the one that the session goes to; all, when any may be chosen
     */
    public List<Candidate> narrow(
            SessionKey key, List<Candidate> candidates, Predicate<Candidate> free) {
        if (candidates.size() < 2) {
            return candidates;
        }
        Candidate to = table.bound(key, candidates);
        if (to == null && options.placement() == AffinityOptions.Placement.RENDEZVOUS) {
            to = rendezvous.pick(key, candidates);
        }
        return to == null || (options.mode() == AffinityOptions.Mode.SOFT && !free.test(to))
                ? candidates
                : List.of(to);
    }

    /**
     * A turn is sent there. A soft session that has to go elsewhere once keeps its rank.
     *
     * @param candidates as given to {@link #narrow}
     */
    public SessionTable.Turn sent(SessionKey key, Candidate to, List<Candidate> candidates) {
        Candidate home =
                options.mode() == AffinityOptions.Mode.SOFT ? table.bound(key, candidates) : null;
        return table.use(key, home == null ? to : home);
    }

    /** The turn's answer has ended. {@code last}: no more turns will come. */
    public void ended(SessionKey key, boolean last) {
        if (last) {
            table.end(key);
        } else {
            table.heard(key);
        }
    }
}
