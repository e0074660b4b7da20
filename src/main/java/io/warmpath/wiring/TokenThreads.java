package io.warmpath.wiring;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that tokenise, with a bounded queue: a full one throws {@link
 * java.util.concurrent.RejectedExecutionException} at once. Any thread.
 */
final class TokenThreads implements Executor, AutoCloseable {
    private final ThreadPoolExecutor pool;

    /**
     * @param threads 0: one per two cores, at least one
     */
    TokenThreads(int threads, int queueSize) {
        int n = threads > 0 ? threads : Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        pool =
                new ThreadPoolExecutor(
                        n,
                        n,
                        0,
                        TimeUnit.SECONDS,
                        new ArrayBlockingQueue<>(queueSize),
                        Thread.ofPlatform().daemon().name("warmpath-tokens-", 0).factory());
    }

    @Override
    public void execute(Runnable work) {
        pool.execute(work);
    }

    /**
     * Drops what waits and gives running prompts five seconds: their native tokenizer is freed
     * next.
     */
    @Override
    public void close() {
        pool.shutdownNow();
        try {
            if (!pool.awaitTermination(5, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a prompt is still being tokenised after 5 s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
