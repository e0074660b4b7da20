package io.warmpath.sim.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Things that run at the same time and fail together. They may start others; one thread waits for
 * all.
 */
final class Together implements AutoCloseable {
    /** Something that talks to engines or gateways. */
    interface Task {
        void run() throws DemoFailure, InterruptedException;
    }

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<CompletableFuture<Void>> tasks = new ArrayList<>(); // guarded by itself
    private final CompletableFuture<Void> failure = new CompletableFuture<>();

    void run(Task task) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        synchronized (tasks) {
            tasks.add(done);
        }
        threads.execute(
                () -> {
                    try {
                        task.run();
                        done.complete(null);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        failure.completeExceptionally(e);
                    } catch (DemoFailure | RuntimeException e) {
                        failure.completeExceptionally(e);
                    }
                });
    }

    /** Returns when all have ended; throws what the first of them threw. */
    void await() throws DemoFailure, InterruptedException {
        try {
            for (int i = 0; ; i++) {
                CompletableFuture<Void> next;
                synchronized (tasks) {
                    if (i == tasks.size()) {
                        return;
                    }
                    next = tasks.get(i);
                }
                CompletableFuture.anyOf(next, failure).get();
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof DemoFailure f) {
                throw f;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Interrupts what still runs and waits until it has ended. */
    @Override
    public void close() {
        threads.shutdownNow();
        threads.close();
    }
}
