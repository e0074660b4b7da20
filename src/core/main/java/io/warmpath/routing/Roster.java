package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import java.util.List;

/**
 * What holds for a list of candidates as long as it is the same list, which a snapshot of the fleet
 * gives until it changes. Immutable.
 *
 * @param unit smallest block size among them; costs are in blocks of this size
 * @param tainted somebody has a taint
 * @param weighted somebody has another weight than 1
 */
record Roster(List<Candidate> of, int unit, boolean tainted, boolean weighted) {
    static Roster of(List<Candidate> candidates) {
        int unit = Integer.MAX_VALUE;
        boolean tainted = false;
        boolean weighted = false;
        for (int i = 0; i < candidates.size(); i++) {
            int size = candidates.get(i).worker().blockSize();
            unit = size > 0 ? Math.min(unit, size) : unit;
            tainted |= !candidates.get(i).worker().taints().isEmpty();
            weighted |= candidates.get(i).worker().weight() != 1;
        }
        return new Roster(candidates, unit == Integer.MAX_VALUE ? 1 : unit, tainted, weighted);
    }
}
