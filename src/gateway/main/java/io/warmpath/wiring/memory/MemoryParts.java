package io.warmpath.wiring.memory;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.telemetry.MemoryMeters;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jboss.logging.Logger;

/** Looks at the process' memory all the time, on a thread of its own, and counts. */
public final class MemoryParts implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(MemoryParts.class);
    private static final Duration EVERY = Duration.ofMillis(100);

    private final MemoryWatch watch;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("warmpath-memory").factory());

    /** {@code shed}: is told whether requests must be refused. */
    public MemoryParts(MemoryPlan plan, Consumer<Boolean> shed, MeterRegistry meters) {
        watch = new MemoryWatch(plan.limit(), new ProcessMemory(), shed, System::nanoTime);
        MemoryMeters.bind(
                meters,
                watch,
                MemoryWatch::resident,
                MemoryWatch::limit,
                MemoryWatch::full,
                MemoryWatch::shortages);
    }

    /** How memory is. */
    public MemoryWatch watch() {
        return watch;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // look() lets nothing out
    public void start() {
        thread.scheduleWithFixedDelay(this::look, 0, EVERY.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void look() {
        try {
            watch.look();
        } catch (RuntimeException e) {
            LOG.warn("Looking at the process' memory failed; it is tried again", e);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
