package io.warmpath.events;

import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * What other threads want from the one thread that owns a feed.
 *
 * <p>{@link #call} and {@link #awaitEnd}: any other thread; they wait, so never on an event loop.
 * {@link #runAll} and {@link #end}: the owner.
 */
public final class FeedCalls {
    private final Queue<FutureTask<?>> calls = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Runnable wake;

    /**
     * @param wake makes the owner come to {@link #runAll} soon; called by callers
     */
    public FeedCalls(Runnable wake) {
        this.wake = wake;
    }

    /**
     * Runs on the owner; waits for it even when interrupted, and keeps the interrupt.
     *
     * @throws CancellationException when the owner has ended
     */
    public <T> T call(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        calls.add(task);
        wake.run();
        if (ended.isDone()) {
            // The thread may have left before it saw the call.
            runAll();
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof RuntimeException r) {
                        throw r;
                    }
                    throw new IllegalStateException(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Runs on the owner some time soon, or never when that has ended. Any thread. */
    public void tell(Runnable work) {
        calls.add(new FutureTask<>(work, null));
        wake.run();
    }

    /** Those that have come. */
    public void runAll() {
        FutureTask<?> task = calls.poll();
        while (task != null) {
            if (ended.isDone()) {
                task.cancel(false);
            } else {
                task.run();
            }
            task = calls.poll();
        }
    }

    /** The owner runs nothing any more; who still calls gets a {@link CancellationException}. */
    public void end() {
        ended.complete(null);
        runAll();
    }

    public boolean isOver() {
        return ended.isDone();
    }

    public void awaitEnd() {
        ended.join();
    }
}
