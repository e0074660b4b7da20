package io.warmpath.upstream;

import io.vertx.core.Context;
import io.vertx.core.Vertx;

/** The event loop that an engine is called from; both clients stay on it. */
final class CallingLoop {
    private CallingLoop() {}

    /**
     * @throws IllegalStateException when this thread is not an event loop
     */
    static Context context() {
        Context context = Vertx.currentContext();
        if (context == null || !Context.isOnEventLoopThread()) {
            throw new IllegalStateException(
                    "an engine is called from "
                            + Thread.currentThread().getName()
                            + ", which is not an event loop");
        }
        return context;
    }
}
