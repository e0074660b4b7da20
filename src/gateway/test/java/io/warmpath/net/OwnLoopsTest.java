package io.warmpath.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.EventLoop;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OwnLoopsTest {
    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    private final OwnLoops own = new OwnLoops(vertx, "apart-", 2);

    @AfterEach
    void close() throws Exception {
        own.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    /** A task on the context, and a timer that it sets. */
    private Thread timed(Context context) throws Exception {
        CompletableFuture<Thread> set = new CompletableFuture<>();
        CompletableFuture<Thread> fired = new CompletableFuture<>();
        context.runOnContext(
                v -> {
                    set.complete(Thread.currentThread());
                    vertx.setTimer(1, t -> fired.complete(Thread.currentThread()));
                });
        assertSame(set.get(10, TimeUnit.SECONDS), fired.get(10, TimeUnit.SECONDS));
        return fired.get();
    }

    @Test
    void each_context_has_a_loop_and_its_timers_fire_on_it() throws Exception {
        Set<Thread> threads = new HashSet<>();
        for (Context context : own.contexts()) {
            Thread thread = timed(context);
            assertTrue(thread.getName().startsWith("apart-"), thread.getName());
            assertTrue(thread.isDaemon());
            threads.add(thread);
        }
        assertEquals(2, threads.size());
    }

    /** What blocks one holds up nobody on the others. */
    @Test
    void whoever_keeps_them_busy_does_not_hold_up_the_rest() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        try {
            for (Context context : own.contexts()) {
                context.runOnContext(
                        v -> {
                            try {
                                busy.await(20, TimeUnit.SECONDS);
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        });
            }
            EventLoop loop = VertxInternals.eventLoop(vertx.getOrCreateContext());
            own.contexts().forEach(c -> assertNotEquals(loop, VertxInternals.eventLoop(c)));
            CompletableFuture<Void> ran = new CompletableFuture<>();
            vertx.runOnContext(v -> ran.complete(null));
            ran.get(10, TimeUnit.SECONDS);
        } finally {
            busy.countDown();
        }
    }
}
