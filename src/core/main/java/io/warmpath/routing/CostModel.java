package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What it costs to send the request to one candidate; lower wins. Any thread. */
public interface CostModel {
    /** Names of the terms, in the order in which they are written; the last one is the cost. */
    List<String> terms();

    /** Fills in what holds for all candidates of a decision. */
    void begin(Facts facts, List<Candidate> candidates);

    /** What running requests of a candidate use counts as cached there, events or not. */
    default boolean countsRunning() {
        return false;
    }

    /**
     * @param decodeBlocks blocks in use there if the request goes there, of its own size
     * @param terms where to write the terms; null when nobody will look
     * @param at first of their places
     */
    double cost(Facts facts, double decodeBlocks, double @Nullable [] terms, int at);
}
