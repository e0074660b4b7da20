package io.warmpath.session;

import io.warmpath.fleet.Candidate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which rank each session is bound to. Any thread. A binding ends when nothing was heard of its
 * session for the idle time: looked at with every use of it, and for all of them once per 1/16 of
 * the idle time ({@link #sweep}). Some 170 bytes a session with an id of 36 characters. Bindings of
 * other gateways count where there is no own one. Of two that were made at once the rank with the
 * lower (worker id, rank) stays, on both sides; a move counts in any case.
 */
public final class SessionTable {
    private static final int SWEEPS_PER_IDLE = 16;

    /** A binding that is in use is told again after this part of the idle time. */
    private static final int TOLD_PER_IDLE = 4;

    private final long idleNanos;
    private final int max;
    private final LongSupplier nanoTime;
    private final Map<SessionKey, Entry> bound = new ConcurrentHashMap<>();
    private final Map<SessionKey.Scope, SessionKey.Scope> scopes = new ConcurrentHashMap<>();
    private final SessionNews news;

    // Only where others are told. Bindings of other gateways, and own ones by what those call them.
    private final Map<SessionName, Entry> theirs = new ConcurrentHashMap<>();
    private final Map<SessionName, SessionKey> named = new ConcurrentHashMap<>();
    private final AtomicLong nextSweep;
    private final LongAdder opened = new LongAdder();
    private final LongAdder moved = new LongAdder();
    private final LongAdder expired = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final LongAdder refused = new LongAdder();

    /** Guarded by itself but for {@code heard}, which is one field of the last user. */
    private static final class Entry {
        private long worker;
        private int dpRank;
        private int moves;
        private int turns;
        private final long since;
        private long toldAt;
        private boolean adopted; // another gateway had made it
        private volatile long heard;

        Entry(long worker, int dpRank, long now) {
            this.worker = worker;
            this.dpRank = dpRank;
            since = now;
            toldAt = now;
            heard = now;
        }

        boolean is(Candidate c) {
            return c.worker().id() == worker && c.dpRank() == dpRank;
        }

        void put(long otherWorker, int otherRank) {
            worker = otherWorker;
            dpRank = otherRank;
        }
    }

    /** What a turn has done to its session. */
    public enum Turn {
        /** It is bound since now. */
        FIRST,
        /** It stays where it was. */
        KEPT,
        /** It was bound to another rank. */
        MOVED,
        /** There was no room to bind it. */
        UNBOUND
    }

    /**
     * A binding as it stands.
     *
     * @param worker id of the worker
     * @param turns requests sent under it
     * @param moves times that it went to another rank
     * @param ageNanos since it was made
     * @param idleNanos since it was used
     */
    public record Binding(
            SessionKey key,
            long worker,
            int dpRank,
            int turns,
            int moves,
            long ageNanos,
            long idleNanos) {}

    /** {@code nanoTime}: as {@link System#nanoTime}. */
    public SessionTable(AffinityOptions options, LongSupplier nanoTime) {
        this(options, nanoTime, SessionNews.NONE);
    }

    /** {@code news}: told of what other gateways should know. */
    public SessionTable(AffinityOptions options, LongSupplier nanoTime, SessionNews news) {
        this.news = news;
        this.idleNanos = options.idle().toNanos();
        this.max = options.max();
        this.nanoTime = nanoTime;
        this.nextSweep = new AtomicLong(nanoTime.getAsLong() + sweepNanos());
    }

    /**
     * The candidate that the session is bound to; null when it is not, or that one is not there.
     */
    @Nullable Candidate bound(SessionKey key, List<Candidate> candidates) {
        Entry e = bound.get(key);
        if (e == null && shared()) {
            e = theirs.get(news.name(key));
        }
        if (e == null || late(e, nanoTime.getAsLong())) {
            return null;
        }
        synchronized (e) {
            for (int i = 0; i < candidates.size(); i++) {
                if (e.is(candidates.get(i))) {
                    return candidates.get(i);
                }
            }
        }
        return null;
    }

    private boolean shared() {
        return news != SessionNews.NONE;
    }

    /** A turn of the session is sent there: binds it, or moves it. */
    Turn use(SessionKey key, Candidate to) {
        long now = nanoTime.getAsLong();
        Entry e = bound.get(key);
        if (e != null && late(e, now)) {
            expire(key, e);
            e = null;
        }
        boolean first = e == null;
        if (e == null) {
            // Two at once may both find room; the limit guards memory, one more does no harm.
            if (bound.size() >= max) {
                refused.increment();
                return Turn.UNBOUND;
            }
            SessionKey.Scope scope = scopes.computeIfAbsent(key.scope(), s -> s);
            Entry mine = taken(key, to, now);
            SessionKey own = new SessionKey(scope, key.id());
            e = bound.putIfAbsent(own, mine);
            first = e == null;
            e = first ? mine : e;
            if (first && shared()) {
                named.put(news.name(own), own);
            }
        }
        return turn(key, e, to, first, now);
    }

    /** Where it stands so far: with another gateway, or nowhere. */
    private Entry taken(SessionKey key, Candidate to, long now) {
        Entry other = shared() ? theirs.remove(news.name(key)) : null;
        if (other == null || late(other, now)) {
            return new Entry(to.worker().id(), to.dpRank(), now);
        }
        synchronized (other) {
            Entry mine = new Entry(other.worker, other.dpRank, now);
            mine.adopted = true;
            return mine;
        }
    }

    private Turn turn(SessionKey key, Entry e, Candidate to, boolean made, long now) {
        boolean tell;
        Turn turn;
        synchronized (e) {
            if (!e.is(to)) {
                moved.increment();
                e.moves++;
                e.put(to.worker().id(), to.dpRank());
                turn = Turn.MOVED;
            } else {
                turn = made && !e.adopted ? Turn.FIRST : Turn.KEPT;
            }
            if (made) {
                opened.increment();
            }
            e.turns++;
            e.heard = now;
            tell = turn != Turn.KEPT || now - e.toldAt >= idleNanos / TOLD_PER_IDLE;
            e.toldAt = tell ? now : e.toldAt;
        }
        if (tell && shared()) {
            news.bound(news.name(key), to.worker().id(), to.dpRank(), turn == Turn.MOVED);
        }
        return turn;
    }

    /**
     * Another gateway has bound a session, or still has. {@code itMoved}: there, from another rank.
     */
    public void told(SessionName session, long worker, int dpRank, boolean itMoved) {
        long now = nanoTime.getAsLong();
        SessionKey key = named.get(session);
        Entry own = key == null ? null : bound.get(key);
        if (own == null || late(own, now)) {
            if (theirs.size() < max || theirs.containsKey(session)) {
                theirs.put(session, new Entry(worker, dpRank, now));
            }
            return;
        }
        synchronized (own) {
            int order = Long.compareUnsigned(worker, own.worker);
            if (itMoved || order < 0 || (order == 0 && dpRank < own.dpRank)) {
                own.put(worker, dpRank);
            }
            own.heard = now;
        }
    }

    /** Another gateway was told that no more turns will come. */
    public void toldEnded(SessionName session) {
        theirs.remove(session);
        SessionKey key = named.remove(session);
        if (key != null && bound.remove(key) != null) {
            ended.increment();
        }
    }

    private void expire(SessionKey key, Entry e) {
        if (bound.remove(key, e)) {
            expired.increment();
            if (shared()) {
                named.remove(news.name(key));
            }
        }
    }

    /** The session's answer grows or has ended: it is in use. */
    void heard(SessionKey key) {
        Entry e = bound.get(key);
        if (e != null) {
            e.heard = nanoTime.getAsLong();
        }
    }

    /**
     * No more turns will come.
     *
     * @return false when it was not bound
     */
    boolean end(SessionKey key) {
        boolean was = bound.remove(key) != null;
        if (was) {
            ended.increment();
        }
        if (shared()) {
            SessionName name = news.name(key);
            named.remove(name);
            theirs.remove(name);
            news.ended(name);
        }
        return was;
    }

    /** Ends every session with this id, of whichever model and tenant; how many. O(sessions). */
    public int endAll(String id) {
        int n = 0;
        for (SessionKey key : bound.keySet()) {
            if (key.id().equals(id) && end(key)) {
                n++;
            }
        }
        return n;
    }

    /** Those with this id, of whichever model and tenant. O(sessions). */
    public List<Binding> find(String id) {
        return list(Integer.MAX_VALUE, id);
    }

    /** Some of them, in no order; O(sessions). */
    public List<Binding> list(int limit) {
        return list(limit, null);
    }

    private List<Binding> list(int limit, @Nullable String id) {
        long now = nanoTime.getAsLong();
        List<Binding> out = new ArrayList<>();
        for (Map.Entry<SessionKey, Entry> b : bound.entrySet()) {
            Entry e = b.getValue();
            if (out.size() >= limit) {
                break;
            }
            if (late(e, now) || (id != null && !b.getKey().id().equals(id))) {
                continue;
            }
            synchronized (e) {
                out.add(
                        new Binding(
                                b.getKey(),
                                e.worker,
                                e.dpRank,
                                e.turns,
                                e.moves,
                                now - e.since,
                                now - e.heard));
            }
        }
        return out;
    }

    /** Sessions that are bound; those whose time is over may be among them for a while. */
    public int size() {
        return bound.size();
    }

    /** Sessions that were bound for the first time, or again after their time was over. */
    public long opened() {
        return opened.sum();
    }

    /** Times that a bound session went to another rank. */
    public long moved() {
        return moved.sum();
    }

    /** Sessions of which nothing was heard for too long. */
    public long expired() {
        return expired.sum();
    }

    /** Sessions that a client or an operator ended. */
    public long ended() {
        return ended.sum();
    }

    /** Turns of sessions for which there was no room. */
    public long refused() {
        return refused.sum();
    }

    private boolean late(Entry e, long now) {
        return now - e.heard >= idleNanos;
    }

    private long sweepNanos() {
        return Math.max(1, idleNanos / SWEEPS_PER_IDLE);
    }

    /**
     * Ends those whose time is over, when it is time to look; to be called once a second or so.
     * O(sessions).
     */
    public void sweep() {
        long now = nanoTime.getAsLong();
        long due = nextSweep.get();
        if (now - due < 0 || !nextSweep.compareAndSet(due, now + sweepNanos())) {
            return;
        }
        for (Map.Entry<SessionKey, Entry> b : bound.entrySet()) {
            if (late(b.getValue(), now)) {
                expire(b.getKey(), b.getValue());
            }
        }
        theirs.values().removeIf(e -> late(e, now));
        if (bound.isEmpty()) {
            scopes.clear();
        }
    }
}
