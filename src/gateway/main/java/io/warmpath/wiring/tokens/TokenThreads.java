package io.warmpath.wiring.tokens;

import io.warmpath.gateway.prompt.TokenLanes;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads that tokenise, each lane with its bounded queue. Any thread. */
public final class TokenThreads implements TokenLanes, AutoCloseable {
    private final ThreadPoolExecutor brief;
    private final ThreadPoolExecutor lengthy;

    /**
     * @param threads of the brief lane, the other one has half as many, at least one; 0: one per
     *     two cores, at least one
     * @param queueSize of each lane
     */
    TokenThreads(int threads, int queueSize) {
        int n = threads > 0 ? threads : Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        brief = pool("warmpath-tokens-", n, queueSize);
        lengthy = pool("warmpath-long-tokens-", Math.max(1, n / 2), queueSize);
    }

    private static ThreadPoolExecutor pool(String name, int threads, int queueSize) {
        return new ThreadPoolExecutor(
                threads,
                threads,
                0,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(queueSize),
                Thread.ofPlatform().daemon().name(name, 0).factory());
    }

    @Override
    public void brief(Runnable work) {
        brief.execute(work);
    }

    @Override
    public void lengthy(Runnable work) {
        lengthy.execute(work);
    }

    /**
     * Drops what waits and gives running prompts five seconds: their native tokenizer is freed
     * next.
     */
    @Override
    public void close() {
        brief.shutdownNow();
        lengthy.shutdownNow();
        try {
            if (!brief.awaitTermination(5, TimeUnit.SECONDS)
                    || !lengthy.awaitTermination(5, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a prompt is still being tokenised after 5 s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
