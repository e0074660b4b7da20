package io.warmpath.wiring.fleet;

import io.warmpath.fleet.FleetTask;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jboss.logging.Logger;

/** The thread that drives the fleet's tasks. Start and close once each, any thread. */
final class FleetLoop implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(FleetLoop.class);
    private static final long AFTER_A_BUG_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final List<FleetTask> tasks;
    private final Thread thread;
    private volatile boolean closed;

    FleetLoop(List<FleetTask> tasks) {
        this.tasks = List.copyOf(tasks);
        this.thread = Thread.ofPlatform().daemon().name("fleet-monitor").unstarted(this::run);
        // unpark before park is remembered, so no wake-up is lost.
        tasks.forEach(task -> task.onWake(() -> LockSupport.unpark(thread)));
    }

    void start() {
        thread.start();
    }

    private void run() {
        while (!closed) {
            long pause = Long.MAX_VALUE;
            for (FleetTask task : tasks) {
                pause = Math.min(pause, tick(task));
            }
            if (pause > 0 && !closed) {
                LockSupport.parkNanos(this, pause);
            }
        }
    }

    private static long tick(FleetTask task) {
        try {
            return task.tick();
        } catch (RuntimeException e) {
            LOG.error("The fleet monitor failed; it goes on in a second", e);
            return AFTER_A_BUG_NANOS;
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        try {
            thread.join(TimeUnit.SECONDS.toMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            LOG.warn("The fleet monitor did not stop within 5 s");
        }
    }
}
