package io.warmpath.session;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.SessionSupport;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A session that its client opened: where it is, and what the engine there holds of it.
 *
 * <pre>
 * nowhere --bind--> at a rank --unbind / bind--> ...
 * a turn of a streaming one: take --appended--> held, --doubt--> nothing is known to be held
 * </pre>
 *
 * <p>Guarded by itself. Fields are small on purpose: {@link ControlledSessions} says what one
 * takes.
 */
public final class ControlledSession {
    /** The turn has to be sent in full, beside the session: another one is being answered. */
    public static final int BUSY = -1;

    /** The prompt does not begin with what the engine holds: the session is of no use to it. */
    public static final int DIVERGED = -2;

    private static final int NOWHERE = -1;

    // Bits of flags.
    private static final int STAYS_ONLY = 1;
    private static final int WHOLE_HISTORIES = 2;
    private static final int RELEASED = 4;
    private static final int RADIX = 8;
    private static final int STREAMING = 16;

    private final int timeoutSeconds;
    private long worker;
    private int slot = NOWHERE;
    private int serial;
    private int heard; // tenths of seconds, of ControlledSessions
    private char turns; // no more than fit
    private short dpRank;
    private short running;
    private byte flags;
    private @Nullable More more;

    /** What only few have. */
    private static final class More {
        private int held;
        private long heldHash = ControlledSessions.NO_IDS;
        private boolean appending;
        private byte[] conversation = {};
        private @Nullable CompletableFuture<Void> keeping;
    }

    /**
     * Where a session is, or was.
     *
     * @param slot incarnation of the rank
     * @param serial of the engine's session
     * @param held tokens that nobody can evict
     */
    public record Place(
            long worker, int dpRank, int slot, int serial, SessionSupport support, int held) {}

    ControlledSession(int timeoutSeconds, boolean staysOnly) {
        this.timeoutSeconds = timeoutSeconds;
        set(STAYS_ONLY, staysOnly);
    }

    /** The engine is not to be told of it. */
    public synchronized boolean staysOnly() {
        return is(STAYS_ONLY);
    }

    private boolean is(int flag) {
        return (flags & flag) != 0;
    }

    private void set(int flag, boolean on) {
        flags = (byte) (on ? flags | flag : flags & ~flag);
    }

    private void keptBy(SessionSupport how) {
        set(RADIX, how == SessionSupport.RADIX);
        set(STREAMING, how == SessionSupport.STREAMING);
    }

    private SessionSupport support() {
        if (is(RADIX)) {
            return SessionSupport.RADIX;
        }
        return is(STREAMING) ? SessionSupport.STREAMING : SessionSupport.STICKY;
    }

    /** Idle time after which it ends. */
    public int timeoutSeconds() {
        return timeoutSeconds;
    }

    /** Whether it is at this incarnation of this rank. */
    public synchronized boolean isAt(Candidate c) {
        return slot == c.slot().value() && worker == c.worker().id();
    }

    public synchronized boolean isSomewhere() {
        return slot != NOWHERE;
    }

    /** Null: nowhere. */
    public synchronized @Nullable Place place() {
        return slot == NOWHERE
                ? null
                : new Place(worker, dpRank, slot, serial, support(), more == null ? 0 : more.held);
    }

    /** Turns that were sent. */
    public synchronized int turns() {
        return turns;
    }

    synchronized void put(Candidate to, SessionSupport how, int newSerial) {
        worker = to.worker().id();
        dpRank = (short) to.dpRank();
        slot = to.slot().value();
        keptBy(how);
        serial = newSerial;
        forget();
    }

    synchronized void leave() {
        slot = NOWHERE;
        keptBy(SessionSupport.STICKY);
        forget();
    }

    private void forget() {
        if (more != null) {
            more.held = 0;
            more.heldHash = ControlledSessions.NO_IDS;
            more.appending = false;
        }
    }

    synchronized void began(int now) {
        heard = now;
        running++;
        turns = (char) Math.min(turns + 1, Character.MAX_VALUE);
    }

    synchronized void ended(int now) {
        heard = now;
        running--;
    }

    /** Nothing was heard of it for too long. */
    synchronized boolean late(int now) {
        return running == 0 && now - heard >= 10L * timeoutSeconds;
    }

    synchronized int heard() {
        return heard;
    }

    /**
     * Begins to append to what the engine holds.
     *
     * @param ids the whole prompt
     * @return how many of them the engine holds; negative: it cannot be appended to
     */
    public synchronized int take(int[] ids) {
        More m = more();
        if (m.appending) {
            return BUSY;
        }
        if (ids.length <= m.held
                || ControlledSessions.hash(ControlledSessions.NO_IDS, ids, 0, m.held)
                        != m.heldHash) {
            return DIVERGED;
        }
        m.appending = true;
        return m.held;
    }

    /**
     * The engine has answered in full, and holds prompt and answer.
     *
     * @return tokens it holds more than before
     */
    synchronized int appended(Place at, int[] prompt, int[] answer) {
        if (slot != at.slot() || serial != at.serial() || more == null) {
            return 0; // it has been closed, or opened elsewhere
        }
        int before = more.held;
        more.appending = false;
        long hash = ControlledSessions.hash(more.heldHash, prompt, before, prompt.length);
        more.heldHash = ControlledSessions.hash(hash, answer, 0, answer.length);
        more.held = prompt.length + answer.length;
        return more.held - before;
    }

    /** Its client has sent the history itself. */
    synchronized boolean bringsHistories() {
        return is(WHOLE_HISTORIES);
    }

    synchronized void bringsHistory() {
        set(WHOLE_HISTORIES, true);
    }

    /** The conversation so far: members of {@code messages}, with commas between them. */
    public synchronized byte[] conversation() {
        return more == null ? new byte[0] : more.conversation;
    }

    /** Returns bytes kept more than before. */
    synchronized int keep(byte[] conversation) {
        if (is(RELEASED)) {
            return 0; // nobody would ever take it away again
        }
        int before = more == null ? 0 : more.conversation.length;
        if (before > 0 || conversation.length > 0) {
            more().conversation = Arrays.copyOf(conversation, conversation.length);
        }
        if (more != null) {
            more.keeping = null;
        }
        return conversation.length - before;
    }

    /** A turn of it is on its way. */
    public synchronized boolean isAnswering() {
        return running > 0;
    }

    /** Done once the last answer is part of the conversation; null: it is. */
    public synchronized @Nullable CompletableFuture<Void> keeping() {
        return more == null ? null : more.keeping;
    }

    public synchronized void keeping(CompletableFuture<Void> reading) {
        more().keeping = reading;
    }

    /** It is closed: nothing is kept any more. Returns bytes kept more than before. */
    synchronized int release() {
        int change = keep(new byte[0]);
        set(RELEASED, true);
        return change;
    }

    private More more() {
        More m = more;
        if (m == null) {
            m = new More();
            more = m;
        }
        return m;
    }
}
