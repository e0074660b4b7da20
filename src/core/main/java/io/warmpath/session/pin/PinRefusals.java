package io.warmpath.session.pin;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The last pins that were not granted, and why. Any thread. */
public final class PinRefusals {
    private static final int KEPT = 100;
    private static final int MAX_REASON = 200;

    /**
     * @param atMillis since 1970
     * @param result one word, as the metric has it
     * @param reason the worker's words, or ours
     */
    public record Refusal(
            long atMillis, long worker, String model, int tokens, String result, String reason) {
        public Refusal {
            reason = reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason;
        }
    }

    private final Deque<Refusal> last = new ArrayDeque<>(KEPT);

    public synchronized void add(Refusal refusal) {
        if (last.size() == KEPT) {
            last.removeFirst();
        }
        last.addLast(refusal);
    }

    /** The oldest first. */
    public synchronized List<Refusal> list() {
        return List.copyOf(last);
    }
}
