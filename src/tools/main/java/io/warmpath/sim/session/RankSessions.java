package io.warmpath.sim.session;

import io.warmpath.sim.cache.KvCache;
import io.warmpath.sim.engine.RankScheduler;
import io.warmpath.sim.engine.SessionSlot;
import io.warmpath.sim.engine.Timers;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of one rank, as SGLang has them. Engine's thread only.
 *
 * <p>Opened ones ({@link #open}) remember the tokens of their requests; the KV of the streaming
 * ones stays in a slot that no eviction reaches, whatever it takes from others: there is no limit.
 * Session-radix ones are never opened: their requests send the whole prompt under a name, and
 * closing the name drops what only they have used.
 *
 * <p>A session whose last request began longer ago than its time-out is closed; this is looked at
 * once a second. While a request runs, closing waits for it.
 */
public final class RankSessions {
    private static final long LOOK_NANOS = 1_000_000_000L;

    private final RankScheduler scheduler;
    private final KvCache cache;
    private final Timers timers;
    private final Set<Integer> bos;
    private final boolean radix;
    private final Map<String, Session> open = new HashMap<>();

    /** Requests under way, by session-radix name. */
    private final Map<String, Integer> tagged = new HashMap<>();

    /** Names that are closed but still have blocks in use. */
    private final Set<String> closing = new HashSet<>();

    private boolean looking;

    /**
     * @param bos tokens that begin a prompt and are cut from a turn that continues one
     * @param radix session-radix is on
     */
    public RankSessions(
            RankScheduler scheduler,
            KvCache cache,
            Timers timers,
            Set<Integer> bos,
            boolean radix) {
        this.scheduler = scheduler;
        this.cache = cache;
        this.timers = timers;
        this.bos = Set.copyOf(bos);
        this.radix = radix;
    }

    public boolean isOpen(String id) {
        return open.containsKey(id);
    }

    /**
     * @param timeoutNanos null: never
     * @return false when a session of this id is open
     */
    public boolean open(String id, boolean streaming, @Nullable Long timeoutNanos) {
        if (open.containsKey(id)) {
            return false;
        }
        Session session =
                streaming
                        ? new StreamingSession(this, id, timeoutNanos)
                        : new BranchingSession(this, id, timeoutNanos);
        session.lastTurn = timers.nanoTime();
        open.put(id, session);
        lookSoon();
        return true;
    }

    /** No effect when there is no such session. */
    public void close(String id) {
        Session session = open.get(id);
        if (session != null) {
            close(session);
        }
        if (radix) {
            closing.add(id);
            dropClosed();
            lookSoon();
        }
    }

    /**
     * A request arrives.
     *
     * @param params null when it names no opened session
     * @param name of a session-radix session, null for none
     * @param rid the request's own id
     */
    public SimSessionTurn begin(
            @Nullable SessionParams params, @Nullable String name, String rid, int[] prompt)
            throws SessionRefused {
        if (params == null) {
            return radix && name != null
                    ? new Tagged(name, prompt)
                    : new SimSessionTurn.Plain(prompt);
        }
        Session session = open.get(params.id());
        if (session == null) {
            throw new SessionRefused(
                    "Invalid request: session id " + params.id() + " does not exist");
        }
        if (session.closing) {
            throw new SessionRefused(
                    "Invalid request: close was requested for session " + params.id());
        }
        SimSessionTurn turn = session.begin(params, rid, prompt);
        session.lastTurn = timers.nanoTime();
        return turn;
    }

    /** Streaming sessions that are open. */
    public int streaming() {
        return (int) open.values().stream().filter(StreamingSession.class::isInstance).count();
    }

    /** Tokens of KV outside the tree that streaming sessions hold between their turns. */
    public int heldTokens() {
        return cache.gpuParked() * cache.blockSize();
    }

    void close(Session session) {
        if (session.running()) {
            session.closing = true;
            return;
        }
        open.remove(session.id);
        session.release();
    }

    /** The session's request is over. */
    void turnEnded(Session session) {
        if (session.closing && !session.running()) {
            close(session);
        }
    }

    RankScheduler scheduler() {
        return scheduler;
    }

    int[] joined(int[] past, int pastLength, int[] prompt) {
        int from = prompt.length > 0 && bos.contains(prompt[0]) ? 1 : 0;
        int[] all = Arrays.copyOf(past, pastLength + prompt.length - from);
        System.arraycopy(prompt, from, all, pastLength, prompt.length - from);
        return all;
    }

    private void dropClosed() {
        closing.removeIf(name -> !tagged.containsKey(name) && cache.dropSession(name));
        scheduler.cacheChanged();
    }

    private void lookSoon() {
        if (!looking && (!open.isEmpty() || !closing.isEmpty())) {
            looking = true;
            timers.schedule(LOOK_NANOS, this::look);
        }
    }

    private void look() {
        looking = false;
        long now = timers.nanoTime();
        for (Session session : List.copyOf(open.values())) {
            Long limit = session.timeoutNanos;
            if (limit != null && now - session.lastTurn > limit) {
                close(session);
            }
        }
        if (!closing.isEmpty()) {
            dropClosed();
        }
        lookSoon();
    }

    /** A request under a session-radix name. */
    private final class Tagged implements SimSessionTurn {
        private final String name;
        private final int[] prompt;

        Tagged(String name, int[] prompt) {
            this.name = name;
            this.prompt = prompt;
            closing.remove(name); // it goes on
            tagged.merge(name, 1, Integer::sum);
        }

        @Override
        public int[] prompt() {
            return prompt;
        }

        @Override
        public @Nullable SessionSlot slot() {
            return null;
        }

        @Override
        public void finished(int[] tokens) {
            ended();
        }

        @Override
        public void aborted() {
            ended();
        }

        private void ended() {
            tagged.computeIfPresent(name, (n, count) -> count == 1 ? null : count - 1);
            if (closing.contains(name)) {
                dropClosed();
            }
        }
    }
}
