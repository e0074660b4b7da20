package io.warmpath.net;

import io.netty.channel.EventLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.impl.ContextInternal;
import io.vertx.core.impl.VertxInternal;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * What Vert.x does not promise of its contexts and its names; its test fails when a new version
 * changes any of it. The raw path runs callbacks of its own channels as if Vert.x had made them. On
 * the context's event loop, but for {@link #eventLoop} and {@link #resolve}: any thread.
 */
public final class VertxInternals {
    private VertxInternals() {}

    /** For one more request on the connection of {@code context}. */
    public static Context another(Context context) {
        return ((ContextInternal) context).duplicate();
    }

    /** The event loop that this context's tasks run on. */
    public static EventLoop eventLoop(Context context) {
        return ((ContextInternal) context).nettyEventLoop();
    }

    /**
     * What follows on this thread runs as a task of {@code context}, whose event loop it is; to be
     * ended by {@link #leave}. Returns what {@link #leave} needs.
     */
    public static @Nullable Object enter(Context context) {
        return ((ContextInternal) context).beginDispatch();
    }

    /** By the names' server or the hosts' file, as the clients of {@code vertx} look names up. */
    static Future<InetAddress> resolve(Vertx vertx, String host) {
        return Future.future(found -> ((VertxInternal) vertx).resolveAddress(host, found));
    }

    public static void leave(Context context, @Nullable Object before) {
        ((ContextInternal) context).endDispatch((ContextInternal) before);
    }
}
