package io.warmpath.net;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.impl.VertxInternal;
import io.vertx.core.spi.VertxThreadFactory;
import io.vertx.core.spi.transport.Transport;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Event loops beside those of a Vert.x: what keeps them busy does not hold up what runs there. They
 * belong to the same Vert.x, so timers that are set on one fire on it. Any thread.
 */
public final class OwnLoops implements AutoCloseable {
    private static final int IO_RATIO = 50; // Netty's own
    private static final long QUIET_SECONDS = 2;
    private static final long CLOSE_SECONDS = 10;

    private final EventLoopGroup group;
    private final List<Context> contexts;

    /**
     * @param name of their threads, with a number behind it
     * @param count from 1
     */
    public OwnLoops(Vertx vertx, String name, int count) {
        VertxInternal internal = (VertxInternal) vertx;
        AtomicInteger number = new AtomicInteger();
        group =
                internal.transport()
                        .eventLoopGroup(
                                Transport.IO_EVENT_LOOP_GROUP,
                                count,
                                task -> thread(internal, task, name + number.getAndIncrement()),
                                IO_RATIO);
        contexts =
                IntStream.range(0, count).mapToObj(i -> context(internal, group.next())).toList();
    }

    private static Thread thread(VertxInternal vertx, Runnable task, String name) {
        Thread made =
                VertxThreadFactory.INSTANCE.newVertxThread(
                        task,
                        name,
                        false,
                        vertx.maxEventLoopExecTime(),
                        vertx.maxEventLoopExecTimeUnit());
        made.setDaemon(true);
        return made;
    }

    private static Context context(VertxInternal vertx, EventLoop loop) {
        return vertx.createEventLoopContext(
                loop, vertx.getWorkerPool(), Thread.currentThread().getContextClassLoader());
    }

    /** One for each of them. */
    public List<Context> contexts() {
        return contexts;
    }

    /** Returns at once; what runs there may end, for some seconds. */
    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // nobody waits
    public void close() {
        group.shutdownGracefully(QUIET_SECONDS, CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
