package io.warmpath.net.server;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Clients' connections and the listeners that they come from, to be let go of. A connection that is
 * closed out of nothing may have a request on its way, whose client then cannot know whether it
 * ran. Any thread.
 */
final class OpenClients {
    /** In the time for which all have to be quiet. */
    private static final int LOOKS = 10;

    private final ChannelGroup listeners = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /** Forgotten when it is closed, as those of {@link #connected} are. */
    void listens(Channel listener) {
        listeners.add(listener);
    }

    void connected(Channel connection) {
        connections.add(connection);
    }

    /**
     * Accepts nobody any more, then leaves those that are connected the time to ask once more and
     * to go by themselves.
     *
     * @param leftAlone listeners that go on
     * @param quiet for how long nobody says anything who is still there
     * @param gone once all have gone, or have been quiet; on any thread
     */
    @SuppressWarnings("FutureReturnValueIgnored") // the listener sees the end of each
    void letGo(Predicate<Channel> leftAlone, Duration quiet, Runnable gone) {
        listeners
                .close(listener -> !leftAlone.test(listener))
                .addListener(
                        closed -> {
                            connections.forEach(OpenClients::sayGoAway);
                            wait(quiet.toNanos() / LOOKS, 0, gone);
                        });
    }

    /** {@code calm}: looks at which nobody had said anything. */
    @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for a look
    private void wait(long every, int calm, Runnable gone) {
        if (connections.isEmpty() || calm > LOOKS) {
            gone.run();
            return;
        }
        GlobalEventExecutor.INSTANCE.schedule(
                () -> wait(every, isLively() ? 0 : calm + 1, gone), every, TimeUnit.NANOSECONDS);
    }

    private boolean isLively() {
        boolean any = false;
        for (Channel connection : connections) {
            ClientClock clock = connection.attr(ClientClock.KEY).get();
            any |= clock != null && clock.wasLively();
        }
        return any;
    }

    /** Streams that are on their way are answered: nothing is said of where it ends. */
    @SuppressWarnings("FutureReturnValueIgnored") // the connection sees to it
    private static void sayGoAway(Channel connection) {
        ChannelHandlerContext http2 = connection.pipeline().context(Http2ConnectionHandler.class);
        if (http2 == null || !(http2.handler() instanceof Http2ConnectionHandler handler)) {
            return;
        }
        connection
                .eventLoop()
                .execute(
                        () -> {
                            if (!handler.connection().goAwaySent()) {
                                handler.goAway(
                                        http2,
                                        Integer.MAX_VALUE,
                                        Http2Error.NO_ERROR.code(),
                                        Unpooled.EMPTY_BUFFER,
                                        http2.newPromise());
                                http2.flush();
                            }
                        });
    }
}
