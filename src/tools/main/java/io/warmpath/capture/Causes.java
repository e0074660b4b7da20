package io.warmpath.capture;

import io.warmpath.capture.Conversation.Exchange;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/**
 * Finds the {@link Cause} of a difference from what the recording shows around the request. Pure;
 * one thread.
 */
record Causes(Conversation conversation, BlockTrace trace, Profile profile, int blockSize) {
    Cause of(Exchange e, int[] prompt, int rank, int predicted, int reported) {
        boolean more = reported > predicted;
        if (more && fromPool(e, predicted, reported)) {
            return Cause.POOL_HIT;
        }
        if (e.request().extraKey()) {
            return Cause.EXTRA_KEY;
        }
        if (more && shares(conversation.besides(e), e, prompt, reported)) {
            return Cause.CONCURRENT;
        }
        if (more
                ? shares(conversation.before(e), e, prompt, reported)
                        && storedLater(e, prompt, rank, reported)
                : removedLater(e, prompt, rank, reported)) {
            return Cause.EVENTS_PENDING;
        }
        return Cause.UNEXPLAINED;
    }

    private static boolean fromPool(Exchange e, int predicted, int reported) {
        OptionalInt storage = e.response() == null ? OptionalInt.empty() : e.response().storage();
        return storage.orElse(0) > 0 && reported - storage.orElse(0) <= predicted;
    }

    /** One of the others, in the same space, has the reported prefix. */
    private boolean shares(List<Exchange> others, Exchange e, int[] prompt, int reported) {
        return others.stream()
                .filter(o -> profile.space(o.request()).equals(profile.space(e.request())))
                .map(o -> o.request().prompt())
                .anyMatch(
                        p ->
                                p != null
                                        && p.length >= reported
                                        && Arrays.equals(p, 0, reported, prompt, 0, reported));
    }

    /** The last block that the engine counted shows up in an event after the request began. */
    private boolean storedLater(Exchange e, int[] prompt, int rank, int reported) {
        var last = trace.block(prompt, reported / blockSize - 1);
        return trace.changes().stream()
                .anyMatch(
                        c ->
                                c.came()
                                        && (rank < 0 || c.rank() == rank)
                                        && c.time() > e.request().time()
                                        && c.blocks().contains(last));
    }

    /**
     * The first block that the engine did not count goes in an event published after the request
     * began and no later than its own.
     */
    private boolean removedLater(Exchange e, int[] prompt, int rank, int reported) {
        var first = trace.block(prompt, reported / blockSize);
        return trace.changes().stream()
                .anyMatch(
                        c ->
                                !c.came()
                                        && (rank < 0 || c.rank() == rank)
                                        && c.time() > e.request().time()
                                        && c.time() <= e.until()
                                        && (c.all() || c.blocks().contains(first)));
    }
}
