package io.warmpath.replica;

import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.WorkerSlot;
import org.jspecify.annotations.Nullable;

/**
 * A booking of another gateway, as far as heard, and its place in the own load while it counts
 * there. Not thread-safe.
 */
final class Heard {
    /** A block that counts in full. */
    static final int WHOLE = 1 << 16;

    final long number;
    final PeerRank rank;
    final int incarnation;
    final int prefillTokens;
    final PromptBlocks prompt;
    final int expectedOutput;
    boolean prefilled;
    int outputTokens;
    int weight = WHOLE;

    /** The last state that it was in. */
    int seenIn;

    /** An older process of the worker: it counts nowhere any more. */
    boolean fenced;

    /** Where it was counted first; it is not counted in any later incarnation. */
    private @Nullable WorkerSlot at;

    private LoadBook.@Nullable Booking booking;
    private PeerWork.@Nullable Running running;

    Heard(
            long number,
            PeerRank rank,
            int incarnation,
            int prefillTokens,
            PromptBlocks prompt,
            int expectedOutput) {
        this.number = number;
        this.rank = rank;
        this.incarnation = incarnation;
        this.prefillTokens = prefillTokens;
        this.prompt = prompt;
        this.expectedOutput = expectedOutput;
    }

    /** Counts it where its rank is known to be; nothing when it is not, or counts already. */
    void count(Ranks ranks, LoadTracker load, PeerWork work) {
        Ranks.Place place = booking != null || fenced ? null : ranks.of(rank);
        if (place == null || (at != null && !at.equals(place.slot()))) {
            return;
        }
        at = place.slot();
        LoadBook.Booking mine =
                load.bookForPeer(place.slot(), prefillTokens, prompt, expectedOutput);
        if (prefilled) {
            mine.firstToken();
        }
        if (outputTokens > 0 || weight != WHOLE) {
            mine.progress(outputTokens, weight / (double) WHOLE);
        }
        booking = mine;
        running =
                work.began(place.slot(), prefillTokens, prompt.tokens(), expectedOutput, prefilled);
    }

    /** Counts no longer, or not for the moment. */
    void withdraw() {
        if (booking != null) {
            booking.close();
            booking = null;
        }
        if (running != null) {
            running.ended();
            running = null;
        }
    }

    void prefilled() {
        prefilled = true;
        if (booking != null) {
            booking.firstToken();
        }
        if (running != null) {
            running.firstToken();
        }
    }

    void grown(int output, int weighs) {
        outputTokens = output;
        weight = weighs;
        if (booking != null) {
            booking.progress(output, weighs / (double) WHOLE);
        }
    }
}
