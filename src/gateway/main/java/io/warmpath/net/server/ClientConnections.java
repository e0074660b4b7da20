package io.warmpath.net.server;

import io.netty.channel.EventLoop;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * How many connections the clients of a port may have open together.
 *
 * <p>The one beyond that many takes the place of the one of its event loop that has been without a
 * request for longest: whoever opens connections and leaves them does not keep others out, probes
 * among them. Where all are in use, the new one is closed.
 *
 * <p>Where files run out before there are so many connections, those that have been without a
 * request for a second or more make room.
 *
 * <p>Any thread; each {@link Idle} belongs to its event loop. A request costs two links.
 */
public final class ClientConnections {
    private static final Logger LOG = Logger.getLogger(ClientConnections.class);

    /** Somebody who has just connected is about to ask. */
    private static final long JUST_COME_NANOS = 1_000_000_000;

    /** Connections that make room at once, on each event loop. */
    private static final int ROOM = 8;

    private final int most;
    private final String setting;
    private final AtomicInteger open = new AtomicInteger(); // a count; orders nothing else
    private final LongAdder displaced = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder flooding = new LongAdder();
    private final LongAdder refusedStreams = new LongAdder();
    private final Map<EventLoop, Idle> loops = new ConcurrentHashMap<>();
    private volatile boolean warned; // since they were last well below

    /**
     * @param most from 1 on
     * @param setting that says so, for the log; empty: there is none
     */
    ClientConnections(int most, String setting) {
        this.most = most;
        this.setting = setting.isEmpty() ? "" : " (" + setting + ")";
    }

    public int most() {
        return most;
    }

    /** Now. */
    public int open() {
        return open.get();
    }

    /** Closed while they were without a request, for others. */
    public LongAdder displaced() {
        return displaced;
    }

    /** Closed as soon as they were there. */
    public LongAdder refused() {
        return refused;
    }

    /** Closed for frames of HTTP/2 that ask for nothing. */
    public LongAdder flooding() {
        return flooding;
    }

    /** Streams of HTTP/2 beyond those that a connection may have. */
    public LongAdder refusedStreams() {
        return refusedStreams;
    }

    /** Of the calling event loop. */
    Idle idle(EventLoop loop) {
        Idle known = loops.get(loop);
        return known != null ? known : loops.computeIfAbsent(loop, l -> new Idle());
    }

    /** Another one is open; {@link #closed} follows in any case. Returns whether it may stay. */
    boolean opened(Idle idle) {
        if (open.incrementAndGet() <= most) {
            return true;
        }
        if (!warned) {
            warned = true;
            LOG.warnf(
                    "%d connections are open on one port, as many as may be%s: new ones take the"
                            + " place of those without a request, or are closed",
                    most, setting);
        }
        ClientClock longest = idle.first();
        if (longest == null) {
            refused.increment();
            return false;
        }
        displaced.increment();
        longest.displace();
        return true;
    }

    /** Another client could not be let in, as no more files may be open. */
    void makeRoom(long now) {
        loops.forEach((loop, idle) -> loop.execute(() -> makeRoom(idle, now)));
    }

    private void makeRoom(Idle idle, long now) {
        for (int i = 0; i < ROOM; i++) {
            ClientClock longest = idle.first();
            if (longest == null || now - longest.idleSince < JUST_COME_NANOS) {
                return;
            }
            displaced.increment();
            longest.displace();
        }
    }

    void closed() {
        // Not at once again: a fleet of clients at the limit would be a warning each.
        if (open.decrementAndGet() < most - most / 8 && warned) {
            warned = false;
        }
    }

    /** Connections without a request, longest first; linked in themselves. One event loop. */
    static final class Idle {
        private @Nullable ClientClock first;
        private @Nullable ClientClock last;

        @Nullable ClientClock first() {
            return first;
        }

        /** Harmless when it is in the list: it stays where it is. */
        void add(ClientClock clock) {
            if (clock.isIdle) {
                return;
            }
            clock.isIdle = true;
            clock.idleBefore = last;
            if (last == null) {
                first = clock;
            } else {
                last.idleAfter = clock;
            }
            last = clock;
        }

        /** Harmless when it is not in the list. */
        void remove(ClientClock clock) {
            if (!clock.isIdle) {
                return;
            }
            clock.isIdle = false;
            ClientClock before = clock.idleBefore;
            ClientClock after = clock.idleAfter;
            if (before == null) {
                first = after;
            } else {
                before.idleAfter = after;
            }
            if (after == null) {
                last = before;
            } else {
                after.idleBefore = before;
            }
            clock.idleBefore = null;
            clock.idleAfter = null;
        }
    }
}
