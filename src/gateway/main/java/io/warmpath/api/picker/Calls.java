package io.warmpath.api.picker;

import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.net.LoopDeadlines;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/** What the calls of all proxies share, and how many there may be. Any thread. */
final class Calls {
    private final int most;
    private final AtomicInteger open = new AtomicInteger(); // a count; orders nothing else
    final BodyMemory memory;
    final PickerMeters meters;
    final Duration span;
    final LongSupplier nanoTime;
    final LoopDeadlines deadlines;

    Calls(PickerParts parts) {
        this.most = parts.options().streams();
        this.memory = parts.bodies();
        this.meters = parts.meters();
        this.span = parts.options().span();
        this.nanoTime = parts.nanoTime();
        this.deadlines = new LoopDeadlines(span, nanoTime);
    }

    boolean areTooMany() {
        return open.get() >= most;
    }

    void entered() {
        open.incrementAndGet();
    }

    void left() {
        open.decrementAndGet();
    }
}
