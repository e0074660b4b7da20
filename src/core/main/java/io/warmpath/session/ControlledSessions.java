package io.warmpath.session;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.session.ControlledSession.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The sessions that clients have opened and not closed yet. Any thread.
 *
 * <p>What an engine is to let go of is handed to {@code closer} as soon as the session is no longer
 * there: closed, opened again, gone to another rank, or idle for longer than its client said.
 * {@link #reap} looks for the latter, O(sessions). Some 195 bytes for a session with an id of 36
 * characters (RESULTS.md); 50 more where the engine pins its tokens, and what is kept of its
 * conversation, which has a limit of its own.
 */
public final class ControlledSessions {
    static final long NO_IDS = 0x9e3779b97f4a7c15L;

    private static final long NANOS_PER_TENTH = 100_000_000;

    private final Options options;
    private final LongSupplier nanoTime;
    private final long startNanos;
    private final Consumer<Place> closer;
    private final Map<SessionKey, ControlledSession> sessions = new ConcurrentHashMap<>();
    private final Map<SessionKey.Scope, SessionKey.Scope> scopes = new ConcurrentHashMap<>();
    private final PinnedTokens pinned;
    private final AtomicInteger serials = new AtomicInteger();
    private final AtomicLong conversations = new AtomicLong();
    private final Map<Event, LongAdder> events = new ConcurrentHashMap<>();

    /**
     * @param max sessions at once
     * @param maxHistoryBytes of the conversation that is kept for one
     * @param maxHistoriesBytes of all conversations that are kept
     * @param pinnedShare of a rank's tokens that sessions may pin
     */
    public record Options(
            int max, int maxHistoryBytes, long maxHistoriesBytes, double pinnedShare) {}

    /** What became of sessions; each is counted. */
    public enum Event {
        /** By a client, or again by the same. */
        OPENED,
        /** Taken over from another gateway, which had it open. */
        ADOPTED,
        /** Taken over by another gateway. */
        GIVEN,
        /** Put to a rank. */
        BOUND,
        /** Put to a rank again, after the one before was lost. */
        REOPENED,
        /** Not known here: closed, expired, or never opened. */
        UNKNOWN,
        /** There was no room for it. */
        REFUSED,
        /** Its rank would have pinned too much. */
        CAPPED,
        /** Its prompt did not begin with what the engine holds. */
        DIVERGED,
        /** Its conversation could not be kept, and its client may need it. */
        NOT_KEPT,
        /** Its engine would not open it. */
        OPEN_FAILED,
        EXPIRED,
        /** By a client or an operator. */
        CLOSED
    }

    /** A session as it stands. {@code place}: null: nowhere yet. */
    public record View(
            SessionKey key,
            @Nullable Place place,
            int turns,
            int timeoutSeconds,
            long idleMillis) {}

    /**
     * @param nanoTime as {@link System#nanoTime}
     * @param closer told of what engines are to let go of; must not wait
     */
    public ControlledSessions(Options options, LongSupplier nanoTime, Consumer<Place> closer) {
        this.options = options;
        this.nanoTime = nanoTime;
        this.startNanos = nanoTime.getAsLong();
        this.closer = closer;
        this.pinned = new PinnedTokens(options.pinnedShare());
        for (Event e : Event.values()) {
            events.put(e, new LongAdder());
        }
    }

    private int now() {
        return (int) ((nanoTime.getAsLong() - startNanos) / NANOS_PER_TENTH);
    }

    /** The session of this name; null when there is none, or its time is over. */
    public @Nullable ControlledSession find(SessionKey key) {
        ControlledSession s = sessions.get(key);
        if (s != null && s.late(now())) {
            expire(key, s);
            return null;
        }
        return s;
    }

    /**
     * A new session in the place of an older one of this name. A turn of it has begun.
     *
     * @param staysOnly on a rank: the engine is not to be told of it
     * @return null when there is no room
     */
    public @Nullable ControlledSession open(SessionKey key, int timeoutSeconds, boolean staysOnly) {
        return begin(key, timeoutSeconds, staysOnly, Event.OPENED);
    }

    /** As {@link #open}, of a session that another gateway had so far. */
    public @Nullable ControlledSession adopt(
            SessionKey key, int timeoutSeconds, boolean staysOnly) {
        return begin(key, timeoutSeconds, staysOnly, Event.ADOPTED);
    }

    private @Nullable ControlledSession begin(
            SessionKey key, int timeoutSeconds, boolean staysOnly, Event how) {
        ControlledSession old = sessions.remove(key);
        if (old != null) {
            release(old);
        }
        // Several at once may all find room; the limit guards memory, a few more do no harm.
        if (sessions.size() >= options.max()) {
            count(Event.REFUSED);
            return null;
        }
        count(how);
        ControlledSession s = new ControlledSession(timeoutSeconds, staysOnly);
        s.began(now());
        SessionKey.Scope scope = scopes.computeIfAbsent(key.scope(), k -> k);
        ControlledSession other = sessions.put(new SessionKey(scope, key.id()), s);
        if (other != null) {
            release(other);
        }
        return s;
    }

    /** A turn of it has begun; to be followed by one {@link #ended}. */
    public void began(ControlledSession s) {
        s.began(now());
    }

    public void ended(ControlledSession s) {
        s.ended(now());
    }

    /** Takes it out; the engine keeps it until {@link #release}. False: it was not there. */
    public boolean take(SessionKey key, ControlledSession s) {
        return take(key, s, Event.CLOSED);
    }

    private boolean take(SessionKey key, ControlledSession s, Event why) {
        boolean was = sessions.remove(key, s);
        if (was) {
            count(why);
        }
        return was;
    }

    /** Another gateway has it now. The engine lets go of what is here, after a running turn. */
    void give(SessionKey key, ControlledSession s) {
        end(key, s, Event.GIVEN);
    }

    /** Closed from outside; after a running turn. */
    void close(SessionKey key, ControlledSession s) {
        end(key, s, Event.CLOSED);
    }

    private void end(SessionKey key, ControlledSession s, Event why) {
        // A turn that runs releases what is no longer there when it ends.
        if (take(key, s, why) && !s.isAnswering()) {
            release(s);
        }
    }

    /** Whether it is still the one of this name. */
    public boolean isThere(SessionKey key, ControlledSession s) {
        return sessions.get(key) == s;
    }

    /** The engine is to let go of it, wherever it is. Harmless when it is nowhere. */
    public void release(ControlledSession s) {
        leave(s);
        conversations.addAndGet(s.release());
    }

    /** It is at no rank any more; its conversation stays. */
    public void leave(ControlledSession s) {
        Place at;
        synchronized (s) {
            at = s.place();
            s.leave();
        }
        if (at != null) {
            pinned.add(at.slot(), -at.held());
            if (at.support() != SessionSupport.STICKY) {
                closer.accept(at);
            }
        }
    }

    /** The engine has opened what nobody waits for any more. */
    public void letGo(Place at) {
        closer.accept(at);
    }

    /** Puts it to a rank, as a session that the engine does not know yet. */
    public Place bind(ControlledSession s, Candidate to, SessionSupport how) {
        leave(s);
        count(Event.BOUND);
        int serial = serials.incrementAndGet();
        s.put(to, how, serial);
        return new Place(to.worker().id(), to.dpRank(), to.slot().value(), serial, how, 0);
    }

    /**
     * Whether a rank may pin so many tokens more. Never of one that does not say how many it has:
     * pinned tokens that fill an engine stop it for good.
     */
    public boolean mayPin(Candidate at, int tokens) {
        return pinned.may(at, tokens);
    }

    /** Counts so many as pinned where that may be; until {@link #unpin}. */
    public boolean pin(Candidate at, int tokens) {
        return pinned.take(at, tokens);
    }

    public void unpin(Place at, int tokens) {
        pinned.add(at.slot(), -tokens);
    }

    /** Tokens that sessions pin on this incarnation of a rank. */
    public long pinned(int slot) {
        return pinned.of(slot);
    }

    /** The engine has answered a turn in full. */
    public void appended(ControlledSession s, Place at, int[] prompt, int[] answer) {
        synchronized (s) {
            pinned.add(at.slot(), s.appended(at, prompt, answer));
        }
    }

    /** Longest conversation that is kept. */
    public int maxHistoryBytes() {
        return options.maxHistoryBytes();
    }

    /**
     * Its client has sent the history itself, and will hardly need what is kept here: such
     * conversations leave half of the room to those of others.
     */
    public void bringsHistory(ControlledSession s) {
        s.bringsHistory();
    }

    /**
     * What was said so far, if there is room for it.
     *
     * @param conversation members of {@code messages}, with commas between them
     */
    public void keep(ControlledSession s, byte[] conversation) {
        long room = options.maxHistoriesBytes() / (s.bringsHistories() ? 2 : 1);
        long others = conversations.get() - s.conversation().length;
        if (conversation.length <= options.maxHistoryBytes()
                && others + conversation.length <= room) {
            conversations.addAndGet(s.keep(conversation));
        } else {
            forget(s);
        }
    }

    /** What was said so far cannot be kept: nothing is, as a part of it would be wrong. */
    public void forget(ControlledSession s) {
        if (!s.bringsHistories() && options.maxHistoryBytes() > 0) {
            count(Event.NOT_KEPT);
        }
        conversations.addAndGet(s.keep(new byte[0]));
    }

    /** Bytes of all conversations that are kept. */
    public long conversationBytes() {
        return conversations.get();
    }

    /** Ends those of which nothing was heard for too long. O(sessions). */
    public void reap() {
        int now = now();
        for (Map.Entry<SessionKey, ControlledSession> e : sessions.entrySet()) {
            if (e.getValue().late(now)) {
                expire(e.getKey(), e.getValue());
            }
        }
        if (sessions.isEmpty()) {
            scopes.clear();
        }
    }

    private void expire(SessionKey key, ControlledSession s) {
        if (sessions.remove(key, s)) {
            count(Event.EXPIRED);
            release(s);
        }
    }

    /** Closes every session with this id, of whichever model and tenant; how many. O(sessions). */
    public int closeAll(String id) {
        int n = 0;
        for (Map.Entry<SessionKey, ControlledSession> e : sessions.entrySet()) {
            if (e.getKey().id().equals(id) && take(e.getKey(), e.getValue())) {
                release(e.getValue());
                n++;
            }
        }
        return n;
    }

    /** Lets every engine go of all of them. */
    public void closeAll() {
        for (Map.Entry<SessionKey, ControlledSession> e : sessions.entrySet()) {
            if (take(e.getKey(), e.getValue())) {
                release(e.getValue());
            }
        }
    }

    /** Some of them, in no order; O(sessions). {@code id}: null: of any. */
    public List<View> list(int limit, @Nullable String id) {
        int now = now();
        List<View> out = new ArrayList<>();
        for (Map.Entry<SessionKey, ControlledSession> e : sessions.entrySet()) {
            ControlledSession s = e.getValue();
            if (out.size() >= limit) {
                break;
            }
            if (!s.late(now) && (id == null || e.getKey().id().equals(id))) {
                out.add(
                        new View(
                                e.getKey(),
                                s.place(),
                                s.turns(),
                                s.timeoutSeconds(),
                                100L * (now - s.heard())));
            }
        }
        return out;
    }

    /** Sessions that are open; those whose time is over may be among them for a while. */
    public int size() {
        return sessions.size();
    }

    public void count(Event event) {
        adder(event).increment();
    }

    /** How often that has happened. */
    public long counted(Event event) {
        return adder(event).sum();
    }

    private LongAdder adder(Event event) {
        return events.computeIfAbsent(event, e -> new LongAdder());
    }

    /** Goes on with the hash of ids that come one after the other. */
    static long hash(long so, int[] ids, int from, int to) {
        long h = so;
        for (int i = from; i < to; i++) {
            h = (h ^ ids[i]) * 0xff51afd7ed558ccdL;
            h ^= h >>> 32;
        }
        return h;
    }
}
