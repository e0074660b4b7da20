package io.warmpath.adapter.zmq;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * A bound endpoint: peers connect to us. Where there are as many as may be, the oldest without a
 * handshake goes, else the new one. On the loop's thread.
 */
final class ZmtpServer implements ZmtpLoop.Ready {
    private static final Logger LOG = Logger.getLogger(ZmtpServer.class);

    /** More wait for the next turn. */
    private static final int ACCEPTED_AT_ONCE = 64;

    private final ZmtpAddress address;
    private final ZmtpLoop loop;
    private final ZmtpConnection.Role role;
    private final ZmtpConnection.Listener listener;
    private final ServerSocketChannel channel;
    private final Set<ZmtpConnection> connections = ConcurrentHashMap.newKeySet();

    /** Those without a handshake, in the order of their coming. */
    private final Set<ZmtpConnection> strangers = new LinkedHashSet<>();

    /**
     * @throws IOException when the endpoint cannot be had
     */
    ZmtpServer(
            ZmtpAddress address,
            ZmtpLoop loop,
            ZmtpConnection.Role role,
            ZmtpConnection.Listener listener)
            throws IOException {
        this.address = address;
        this.loop = loop;
        this.role = role;
        this.listener = listener;
        this.channel = address.bind();
        channel.configureBlocking(false);
    }

    /** Apart from the constructor, which may not hand itself out. */
    void open() throws IOException {
        loop.register(channel, SelectionKey.OP_ACCEPT, this);
    }

    @Override
    public void ready() {
        try {
            for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
                SocketChannel peer = channel.accept();
                if (peer == null) {
                    return;
                }
                take(peer);
            }
        } catch (IOException e) {
            // Out of descriptors, or the peer has left again: the next one may fare better.
            LOG.debugf(e, "accepting a connection");
        }
    }

    private void take(SocketChannel peer) throws IOException {
        try {
            if (connections.size() >= loop.limits().connections() && !oneLess()) {
                peer.close();
                return;
            }
            ZmtpConnection made = ZmtpConnection.accepted(peer, loop, role, new Watch());
            connections.add(made);
            strangers.add(made);
        } catch (IOException e) {
            peer.close();
            throw e;
        }
    }

    /** False: all that are there have shown that they speak ZeroMQ. */
    private boolean oneLess() {
        if (loop.limits().room().refuse()) {
            LOG.warnf(
                    "%s has %d connections: more are closed, and counted only",
                    address, connections.size());
        }
        if (strangers.isEmpty()) {
            return false;
        }
        ZmtpConnection oldest = strangers.iterator().next();
        strangers.remove(oldest);
        connections.remove(oldest);
        oldest.close();
        return true;
    }

    /** Any thread. */
    int connections() {
        return connections.size();
    }

    void tick(long now) {
        for (ZmtpConnection c : List.copyOf(connections)) {
            c.tick(now);
        }
    }

    void close() {
        connections.forEach(ZmtpConnection::close);
        connections.clear();
        strangers.clear();
        try {
            channel.close();
            address.unbound();
        } catch (IOException e) {
            LOG.debugf(e, "closing a bound endpoint");
        }
    }

    /** Forgets a connection that has ended; tells only of those that had a handshake. */
    private final class Watch implements ZmtpConnection.Listener {
        private boolean wasUp;

        @Override
        public void up(ZmtpConnection c) {
            wasUp = true;
            strangers.remove(c);
            listener.up(c);
        }

        @Override
        public void message(ZmtpConnection c, List<byte[]> frames) {
            listener.message(c, frames);
        }

        @Override
        public void turnEnded(boolean more) {
            listener.turnEnded(more);
        }

        @Override
        public void down(ZmtpConnection c, IOException why) {
            connections.remove(c);
            strangers.remove(c);
            if (wasUp) {
                listener.down(c, why);
            }
        }
    }
}
