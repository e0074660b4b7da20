package io.warmpath.adapter.zmq;

import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.RefusedAddressException;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one connection to an endpoint: a lost one, or one that cannot be had, is tried again after
 * a pause that doubles, without end. On the loop's thread.
 *
 * <p>Host names are looked up at every attempt, since a pod's address changes.
 */
final class ZmtpDialer {
    /** Told of connections; see {@link ZmtpConnection.Listener}. */
    interface Listener extends ZmtpConnection.Listener {
        /**
         * The name of the host is not known yet, or leads where nothing is sent; asked again after
         * the longest pause.
         */
        void unresolved(String why);
    }

    private final ZmtpAddress address;
    private final ZmtpLoop loop;
    private final ZmtpConnection.Role role;
    private final Listener listener;
    private final long firstPause;
    private final long longestPause;
    private @Nullable ZmtpConnection connection;
    private boolean resolved;
    private long pause;
    private long againAt;
    private int attempts;

    ZmtpDialer(
            ZmtpAddress address,
            ZmtpLoop loop,
            ZmtpConnection.Role role,
            Duration firstPause,
            Duration longestPause,
            Listener listener) {
        this.address = address;
        this.loop = loop;
        this.role = role;
        this.listener = listener;
        this.firstPause = firstPause.toNanos();
        this.longestPause = longestPause.toNanos();
        this.pause = this.firstPause;
    }

    /** True once the name of the host was known. */
    boolean resolved() {
        return resolved;
    }

    void dial() {
        try {
            SocketAddress found = address.resolve(attempts++);
            AddressGuard guard = loop.guard();
            if (guard != null) {
                address.check(guard, found);
            }
            connection = ZmtpConnection.to(address, found, loop, role, new Watch());
            resolved = true;
        } catch (RefusedAddressException e) {
            listener.unresolved(String.valueOf(e.getMessage()));
            againAt = loop.nanoTime().getAsLong() + longestPause;
        } catch (UnknownHostException e) {
            listener.unresolved("unknown host " + e.getMessage());
            againAt = loop.nanoTime().getAsLong() + longestPause;
        } catch (IOException e) {
            resolved = true;
            pause();
        }
    }

    /** Looks at the clock. */
    void tick(long now) {
        if (connection != null) {
            connection.tick(now);
        } else if (now - againAt >= 0) {
            dial();
        }
    }

    /** The other side is known to be there: what is tried next is tried at the next tick. */
    void hurry() {
        if (connection == null) {
            pause = firstPause;
            againAt = loop.nanoTime().getAsLong();
        }
    }

    /** False when there is no connection that could take it. */
    boolean send(List<byte[]> frames) {
        if (connection == null || !connection.up()) {
            return false;
        }
        connection.send(ZmtpBytes.message(frames));
        return true;
    }

    void close() {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }

    private void pause() {
        againAt = loop.nanoTime().getAsLong() + pause;
        pause = Math.min(longestPause, 2 * pause);
    }

    /** Notes the fate of the connection, then tells. */
    private final class Watch implements ZmtpConnection.Listener {
        @Override
        public void up(ZmtpConnection c) {
            pause = firstPause;
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
            connection = null;
            pause();
            listener.down(c, why);
        }
    }
}
