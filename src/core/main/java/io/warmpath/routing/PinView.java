package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import java.util.List;

/**
 * Which ranks have been made to keep a beginning of the request's prompt. Immutable.
 *
 * @param weight worth of a pinned block beside what it saves, in blocks, 0..1: what makes a rank
 *     that keeps the prefix win against one that merely has it; low enough that a busy one is left
 */
public record PinView(double weight, List<Held> held) {
    /**
     * One rank's longest.
     *
     * @param worker its id
     * @param blocks of the prompt, from its start
     */
    public record Held(long worker, int dpRank, int blockSize, int blocks) {}

    public PinView {
        held = List.copyOf(held);
        if (!(weight >= 0 && weight <= 1)) {
            throw new IllegalArgumentException("a pin's weight must be in 0..1, not " + weight);
        }
    }

    /** Pinned blocks there, of the candidate's size. */
    public int blocks(Candidate candidate) {
        for (int i = 0; i < held.size(); i++) {
            Held h = held.get(i);
            if (h.worker() == candidate.worker().id()
                    && h.dpRank() == candidate.dpRank()
                    && h.blockSize() == candidate.worker().blockSize()) {
                return h.blocks();
            }
        }
        return 0;
    }
}
