package io.warmpath.lab;

import io.warmpath.prefix.PrefixEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Cache events on their way to the router. One thread. All take the same time, so they arrive in
 * the order in which they happened. A router looks at its index only when it decides; what has
 * arrived until then is handed over as one batch.
 */
final class LateEvents {
    private final long lagNanos;
    private final Deque<Late> underWay = new ArrayDeque<>();
    private final List<PrefixEvent> arrived = new ArrayList<>();

    private record Late(long dueNanos, PrefixEvent event) {}

    LateEvents(long lagNanos) {
        this.lagNanos = lagNanos;
    }

    void happened(long nanos, PrefixEvent event) {
        underWay.add(new Late(nanos + lagNanos, event));
    }

    /** What has arrived since this was asked last; valid until it is asked again. */
    List<PrefixEvent> arrived(long nanos) {
        arrived.clear();
        while (!underWay.isEmpty() && underWay.element().dueNanos() <= nanos) {
            arrived.add(underWay.remove().event());
        }
        return arrived;
    }
}
