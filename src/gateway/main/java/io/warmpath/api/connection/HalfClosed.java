package io.warmpath.api.connection;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.channel.unix.Socket;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A client that sends nothing more, but may still read: what it has asked for is answered, then its
 * connection is closed. One that has left altogether looks the same at first. It does not take what
 * is written to it, and its host says so: whoever begins to watch writes something, and the
 * connection's error is looked at {@value #LOOKS_PER_SECOND} times a second. One per such
 * connection, its event loop only.
 */
final class HalfClosed {
    private static final int LOOKS_PER_SECOND = 20;

    private final Channel channel;
    private final Socket socket;
    private final BooleanSupplier answering;
    private @Nullable ScheduledFuture<?> looks;

    /** {@code answering}: whether something is still to be answered. */
    HalfClosed(Channel channel, Socket socket, BooleanSupplier answering) {
        this.channel = channel;
        this.socket = socket;
        this.answering = answering;
    }

    /** That its client sends nothing more does not close the connection from now on. */
    static void allow(Channel channel) {
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
    }

    void watch() {
        int pause = 1000 / LOOKS_PER_SECOND;
        looks =
                channel.eventLoop()
                        .scheduleWithFixedDelay(this::look, pause, pause, TimeUnit.MILLISECONDS);
    }

    /** The connection has ended. */
    void end() {
        if (looks != null) {
            looks.cancel(false);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // channelInactive follows
    private void look() {
        if (isBroken()) {
            channel.close();
        } else if (!answering.getAsBoolean()) {
            end();
            // Behind what is still to be sent.
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }
    }

    private boolean isBroken() {
        try {
            return socket.getSoError() != 0;
        } catch (IOException e) {
            return true;
        }
    }
}
