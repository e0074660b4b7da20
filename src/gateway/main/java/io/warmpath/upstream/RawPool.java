package io.warmpath.upstream;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.ssl.SslHandler;
import io.warmpath.fleet.EngineAddress;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One event loop's connections to one engine. The connection used last is used next, so the others
 * grow old and are closed. A call without a connection waits for the first one that becomes free,
 * its own or another call's; a call that insists on a fresh one waits for that. Loop of the owner
 * only.
 */
final class RawPool {
    private static final Logger LOG = Logger.getLogger(RawPool.class);

    /** An empty pool is forgotten after this. */
    private static final long FORGET_NANOS = 60_000_000_000L;

    private final RawLoop loop;
    private final URI base;
    private final EngineAddress address;
    private final ArrayDeque<RawConnection> idle = new ArrayDeque<>();
    private final ArrayDeque<RawCall> waiting = new ArrayDeque<>();
    private final Set<RawConnection> open = Collections.newSetFromMap(new IdentityHashMap<>());
    private int connecting;
    private long lastUse;

    RawPool(RawLoop loop, URI base) {
        this.loop = loop;
        this.base = base;
        this.address = EngineAddress.of(base);
        this.lastUse = loop.now();
    }

    EngineAddress address() {
        return address;
    }

    RawLoop loop() {
        return loop;
    }

    /** Gives the call a connection, now or later, or fails it. */
    void acquire(RawCall call, boolean fresh) {
        lastUse = loop.now();
        if (!loop.reaches(address)) {
            loop.soon(() -> call.notConnected(new IOException("socket files need epoll")));
            return;
        }
        if (fresh) {
            connect(call);
            return;
        }
        for (RawConnection c = idle.pollLast(); c != null; c = idle.pollLast()) {
            if (c.isUsable()) {
                call.connected(c);
                return;
            }
        }
        waiting.addLast(call);
        if (open.size() + connecting < loop.options().maxConnectionsPerWorker()) {
            connect(null);
        }
    }

    /** {@code only}: the one call that this connection is for; null: for whoever waits first. */
    private void connect(@Nullable RawCall only) {
        connecting++;
        // Not in this turn: the socket could get the file of one closed in it, and its events.
        loop.soon(() -> open(only));
    }

    private void open(@Nullable RawCall only) {
        RawConnection connection = new RawConnection(this);
        ChannelFuture connected =
                loop.connect(base, address, address.tls() ? new Secured(connection) : connection);
        connected.addListener(
                f -> {
                    if (loop.isHere()) {
                        ended(connected, connection, only);
                    } else { // a channel that could not even be made has no loop of its own
                        loop.soon(() -> ended(connected, connection, only));
                    }
                });
    }

    private void ended(ChannelFuture connected, RawConnection connection, @Nullable RawCall only) {
        SslHandler tls = connected.channel().pipeline().get(SslHandler.class);
        if (!connected.isSuccess() || tls == null) {
            connected(connection, only, connected.cause());
        } else {
            tls.handshakeFuture().addListener(h -> connected(connection, only, h.cause()));
        }
    }

    private void connected(
            RawConnection connection, @Nullable RawCall only, @Nullable Throwable failure) {
        connecting--;
        if (failure != null) {
            LOG.debugf("no connection to %s: %s", address.authority(), failure);
            connection.close();
            RawCall call = only != null ? only : nextWaiting();
            if (call != null) {
                call.notConnected(failure);
            }
        } else if (loop.isClosed()) {
            connection.close();
        } else {
            open.add(connection);
            if (only != null && !only.isOver()) {
                only.connected(connection);
            } else {
                free(connection);
            }
        }
    }

    /** TLS below the connection. */
    private final class Secured extends ChannelInitializer<Channel> {
        private final RawConnection connection;

        Secured(RawConnection connection) {
            this.connection = connection;
        }

        @Override
        protected void initChannel(Channel channel) {
            SslHandler tls =
                    new SslHandler(
                            loop.tls().engine(channel.alloc(), address.host(), address.port()));
            tls.setHandshakeTimeoutMillis(loop.options().connectTimeout().toMillis());
            channel.pipeline().addLast(tls, connection);
        }
    }

    private @Nullable RawCall nextWaiting() {
        RawCall call = waiting.pollFirst();
        while (call != null && call.isOver()) {
            call = waiting.pollFirst();
        }
        return call;
    }

    /** The connection can take another call. */
    void free(RawConnection connection) {
        lastUse = loop.now();
        RawCall next = nextWaiting();
        if (next != null) {
            next.connected(connection);
        } else if (loop.isClosed()) {
            connection.close();
        } else {
            connection.idleSince(lastUse);
            idle.addLast(connection);
        }
    }

    /** The connection is no more. */
    void gone(RawConnection connection) {
        open.remove(connection);
        // It may have been the one that somebody beyond the limit was waiting for.
        if (!waiting.isEmpty()
                && open.size() + connecting < loop.options().maxConnectionsPerWorker()
                && connecting < waiting.size()
                && !loop.isClosed()) {
            connect(null);
        }
    }

    /**
     * Closes what has been idle for too long.
     *
     * @return false when the pool can be forgotten
     */
    boolean trim(long now) {
        for (Iterator<RawConnection> i = idle.iterator(); i.hasNext(); ) {
            RawConnection c = i.next();
            if (!c.isUsable()) {
                i.remove();
            } else if (c.isOld(now)) {
                i.remove();
                c.close();
            } else {
                break; // the ones behind it are younger
            }
        }
        return !open.isEmpty()
                || connecting > 0
                || !waiting.isEmpty()
                || now - lastUse < FORGET_NANOS;
    }

    void close() {
        for (RawConnection c : open.toArray(RawConnection[]::new)) {
            c.close();
        }
    }
}
