package io.warmpath.upstream;

import io.netty.channel.EventLoop;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.warmpath.net.VertxInternals;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** A client's {@link EngineLoop}s, each made at the first call on its event loop. Any thread. */
final class EngineLoops<L extends EngineLoop> {
    private final Function<EventLoop, L> make;
    private final Map<EventLoop, L> loops = new ConcurrentHashMap<>();

    EngineLoops(Function<EventLoop, L> make) {
        this.make = make;
    }

    /**
     * Of the event loop that an engine is called from; the call stays on it.
     *
     * @throws IllegalStateException when this thread is not an event loop
     */
    static Context callingContext() {
        Context context = Vertx.currentContext();
        if (context == null || !Context.isOnEventLoopThread()) {
            throw new IllegalStateException(
                    "an engine is called from "
                            + Thread.currentThread().getName()
                            + ", which is not an event loop");
        }
        return context;
    }

    L of(Context context) {
        EventLoop loop = VertxInternals.eventLoop(context);
        L known = loops.get(loop);
        return known != null ? known : loops.computeIfAbsent(loop, make);
    }

    void unwell(URI worker, Duration patience) {
        loops.values().forEach(l -> l.unwell(worker, patience));
    }

    void well(URI worker) {
        loops.values().forEach(l -> l.well(worker));
    }

    void left(URI worker, Duration patience, boolean lost) {
        loops.values().forEach(l -> l.left(worker, patience, lost));
    }

    void close() {
        loops.values().forEach(EngineLoop::close);
    }
}
