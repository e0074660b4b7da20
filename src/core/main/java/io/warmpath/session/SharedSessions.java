package io.warmpath.session;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sessions that clients open, between gateways: each is in the hands of the one that has served its
 * last turn, and only that one has it open on an engine. A turn that comes to another gateway takes
 * the session over there; whoever had it lets its engine go of it. Any thread, no waiting. Fire and
 * forget, as bindings are: what is lost costs a prefill or a slot until the engine's own time-out,
 * never an answer. Keeps a name and a few numbers for each session, own and others'.
 */
public final class SharedSessions {
    private final SessionNews news;
    private final ControlledSessions table;
    private final int max;
    private final LongSupplier nanoTime;
    private final IntSupplier openings;
    private final Map<SessionName, Own> own = new ConcurrentHashMap<>();
    private final Map<SessionName, Elsewhere> theirs = new ConcurrentHashMap<>();

    private record Own(SessionKey key, ControlledSession session, int opening) {}

    /**
     * A session that another gateway has.
     *
     * @param opening tells it from an earlier or later one of the same name
     * @param timeoutSeconds without a turn, after which it is over
     * @param staysOnly engines are not told of it
     * @param toldNanos when it was last heard of
     */
    public record Elsewhere(int opening, int timeoutSeconds, boolean staysOnly, long toldNanos) {}

    /**
     * @param news told of own sessions; {@link SessionNews#NONE}: nobody shares any
     * @param max sessions of others that are remembered
     * @param nanoTime as {@link System#nanoTime}
     * @param openings numbers that do not come twice in a row
     */
    public SharedSessions(
            SessionNews news,
            ControlledSessions table,
            int max,
            LongSupplier nanoTime,
            IntSupplier openings) {
        this.news = news;
        this.table = table;
        this.max = max;
        this.nanoTime = nanoTime;
        this.openings = openings;
    }

    private boolean on() {
        return news != SessionNews.NONE;
    }

    /** A turn of an own session begins: it is in our hands. */
    public void turn(SessionKey key, ControlledSession session) {
        if (!on()) {
            return;
        }
        SessionName name = news.name(key);
        theirs.remove(name);
        Own mine =
                own.compute(
                        name,
                        (n, old) ->
                                old != null && old.session == session
                                        ? old
                                        : new Own(key, session, openings.getAsInt()));
        news.opened(name, mine.opening, session.timeoutSeconds(), session.staysOnly());
    }

    /** An own session is over, however it came. */
    public void over(SessionKey key, ControlledSession session) {
        if (on()) {
            SessionName name = news.name(key);
            Own mine = own.get(name);
            if (mine != null && mine.session == session && own.remove(name, mine)) {
                news.closed(name, mine.opening);
            }
        }
    }

    /** The session of this name that another gateway has; null: none is known. */
    public @Nullable Elsewhere elsewhere(SessionKey key) {
        if (theirs.isEmpty()) {
            return null;
        }
        Elsewhere e = theirs.get(news.name(key));
        return e == null || late(e) ? null : e;
    }

    /** A client has closed here a session that another gateway has: that one is told. */
    public void closeElsewhere(SessionKey key) {
        if (on()) {
            SessionName name = news.name(key);
            Elsewhere e = theirs.remove(name);
            if (e != null) {
                news.closed(name, e.opening());
            }
        }
    }

    /** Another gateway has the session from now on, or still. */
    public void toldOpened(SessionName name, int opening, int timeoutSeconds, boolean staysOnly) {
        Own mine = own.remove(name);
        if (mine != null) {
            table.give(mine.key, mine.session);
        }
        if (theirs.size() < max || theirs.containsKey(name)) {
            theirs.put(
                    name, new Elsewhere(opening, timeoutSeconds, staysOnly, nanoTime.getAsLong()));
        }
    }

    /** The session has ended at another gateway, or a client has closed it there. */
    public void toldClosed(SessionName name, int opening) {
        theirs.computeIfPresent(name, (n, e) -> e.opening() == opening ? null : e);
        Own mine = own.get(name);
        if (mine != null && mine.opening == opening && own.remove(name, mine)) {
            table.close(mine.key, mine.session);
        }
    }

    /**
     * Forgets what is over, and tells of own sessions that have ended by themselves. O(sessions).
     */
    public void sweep() {
        theirs.values().removeIf(this::late);
        own.forEach(
                (name, mine) -> {
                    if (!table.isThere(mine.key, mine.session) && own.remove(name, mine)) {
                        news.closed(name, mine.opening);
                    }
                });
    }

    private boolean late(Elsewhere e) {
        return nanoTime.getAsLong() - e.toldNanos()
                >= Duration.ofSeconds(e.timeoutSeconds()).toNanos();
    }
}
