package io.warmpath.replica;

import io.warmpath.session.SessionControl;
import io.warmpath.session.SessionKey;
import io.warmpath.session.SessionName;
import io.warmpath.session.SessionNews;
import io.warmpath.session.SessionTable;
import io.warmpath.session.SharedSessions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Which sessions this gateway has bound where, for the others, and theirs for the own table. Fire
 * and forget: what is lost comes again with a later turn of its session, and until then that
 * session is placed as one that nobody knows. {@link SessionNews}: any thread, never waits; what
 * finds the queue full is dropped. The rest: the thread that tells and hears.
 */
public final class SessionViews implements SessionNews, MessageReader.Sessions {
    private static final int MOST = 8192;

    /** What others are told of. */
    record News(SessionName session, byte what, long worker, int dpRank) {}

    private final Half hash;
    private final ConcurrentLinkedQueue<News> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();
    private volatile @Nullable SessionTable table;
    private volatile @Nullable SharedSessions open;

    /** A 64-bit hash with a seed; the same on all gateways. Any thread. */
    @FunctionalInterface
    public interface Half {
        long of(byte[] bytes, int half);
    }

    /** {@code hash}: keyed; two independent halves make a name. */
    public SessionViews(Half hash) {
        this.hash = hash;
    }

    /** Where what others tell goes. */
    public void into(SessionTable own) {
        table = own;
    }

    /** Where what others tell of sessions goes that clients open. */
    public void into(SharedSessions own) {
        open = own;
    }

    @Override
    public SessionName name(SessionKey key) {
        byte[] all =
                (key.scope().model() + '\0' + key.scope().tenant() + '\0' + key.id())
                        .getBytes(StandardCharsets.UTF_8);
        return new SessionName(hash.of(all, 0), hash.of(all, 1));
    }

    @Override
    public void bound(SessionName session, long worker, int dpRank, boolean moved) {
        add(new News(session, moved ? Wire.SESSION_MOVED : Wire.SESSION_BOUND, worker, dpRank));
    }

    @Override
    public void ended(SessionName session) {
        add(new News(session, Wire.SESSION_ENDED, 0, 0));
    }

    @Override
    public void opened(SessionName session, int opening, int timeoutSeconds, boolean staysOnly) {
        long both = (long) opening << Integer.SIZE | timeoutSeconds;
        add(new News(session, Wire.SESSION_OPENED, both, staysOnly ? 1 : 0));
    }

    @Override
    public void closed(SessionName session, int opening) {
        add(new News(session, Wire.SESSION_CLOSED, (long) opening << Integer.SIZE, 0));
    }

    private void add(News news) {
        if (queued.incrementAndGet() > MOST) {
            queued.decrementAndGet();
        } else {
            queue.add(news);
        }
    }

    /** What has come since the last time. */
    List<News> drain() {
        List<News> all = new ArrayList<>();
        for (News n = queue.poll(); n != null; n = queue.poll()) {
            queued.decrementAndGet();
            all.add(n);
        }
        return all;
    }

    @Override
    public void session(byte what, SessionName session, long worker, int dpRank) {
        SessionTable bindings = table;
        SharedSessions opened = open;
        if (what == Wire.SESSION_OPENED || what == Wire.SESSION_CLOSED) {
            if (opened != null) {
                open(opened, what, session, worker, dpRank != 0);
            }
        } else if (bindings != null) {
            if (what == Wire.SESSION_ENDED) {
                bindings.toldEnded(session);
            } else {
                bindings.told(session, worker, dpRank, what == Wire.SESSION_MOVED);
            }
        }
    }

    private static void open(
            SharedSessions to, byte what, SessionName session, long value, boolean staysOnly) {
        int opening = (int) (value >>> Integer.SIZE);
        if (what == Wire.SESSION_OPENED) {
            to.toldOpened(session, opening, seconds((int) value), staysOnly);
        } else {
            to.toldClosed(session, opening);
        }
    }

    /** Whatever the wire says, a time that a session may have. */
    private static int seconds(int value) {
        return Math.clamp(value, 1, SessionControl.MAX_TIMEOUT_SECONDS);
    }
}
