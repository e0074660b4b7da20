package io.warmpath.net;

import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the raw path believes about contexts and names of this version of Vert.x. */
class VertxInternalsTest {
    private final Vertx vertx = Vertx.vertx();

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @Test
    void another_context_shares_the_event_loop() {
        Context context = vertx.getOrCreateContext();
        Context other = VertxInternals.another(context);
        assertNotSame(context, other);
        assertSame(VertxInternals.eventLoop(context), VertxInternals.eventLoop(other));
    }

    @Test
    void names_are_resolved() throws Exception {
        assertTrue(
                VertxInternals.resolve(vertx, "localhost")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS)
                        .isLoopbackAddress());
    }

    @Test
    void code_between_enter_and_leave_runs_in_the_context() throws Exception {
        Context context = vertx.getOrCreateContext();
        CompletableFuture<Context> inside = new CompletableFuture<>();
        VertxInternals.eventLoop(context)
                .execute(
                        () -> {
                            Object before = VertxInternals.enter(context);
                            inside.complete(Vertx.currentContext());
                            VertxInternals.leave(context, before);
                        });
        assertSame(context, inside.get(10, TimeUnit.SECONDS));
    }
}
