package io.warmpath.sim.engine;

import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.KvCache;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through a rank. The answer is known from the start; the scheduler decides
 * only when each token comes. Engine's thread only.
 */
public final class Sequence {
    /** Hears of one request's progress, on the engine's thread. */
    public interface Listener {
        /**
         * Prefill is done; the first token follows at once.
         *
         * @param cachedTokens prompt tokens that were not computed
         * @param hostTokens of these, loaded from host memory
         */
        void started(int cachedTokens, int hostTokens);

        /** Token {@code index} of the answer, 0 first. */
        void token(int index);

        /** All tokens have been reported. */
        void finished();
    }

    enum State {
        WAITING,
        PREFILLING,
        /** Its pages are there; what belongs into them comes from another engine. */
        RECEIVING,
        DECODING,
        ENDED
    }

    private final int[] tokens;
    private final int promptLength;
    private final CacheSpace space;
    private final @Nullable String sessionId;
    private final Listener listener;
    private final @Nullable SessionSlot slot;
    private final @Nullable Integer priority;
    private final @Nullable Runnable reserved;

    State state = State.WAITING;
    int emitted;
    long nextTokenAt;
    long serial;

    /** When it began to wait, among others. */
    long queued;

    KvCache.@Nullable Lease lease;

    /** It goes on from its session's slot and touches no tree. */
    boolean resumed;

    /** Prompt tokens that need not be computed any more. */
    int done;

    /** Of them those that were cached when it was admitted. */
    int cached;

    /** Of them those that were in host memory. */
    int loaded;

    /** Computed by the step under way. */
    int chunk;

    /** Loaded by it. */
    int loading;

    /** {@code tokens}: prompt and answer; both at least one token. */
    public Sequence(
            int[] tokens,
            int promptLength,
            CacheSpace space,
            @Nullable String sessionId,
            Listener listener) {
        this(tokens, promptLength, space, sessionId, null, null, null, listener);
    }

    /**
     * @param slot of a streaming session, for one sequence at a time; null: none
     * @param priority as the client gave it; null: none
     * @param reserved another engine computes the prompt: called once there are pages for it, and
     *     {@link RankScheduler#received} says that it has come; null: it is computed here
     */
    public Sequence(
            int[] tokens,
            int promptLength,
            CacheSpace space,
            @Nullable String sessionId,
            @Nullable SessionSlot slot,
            @Nullable Integer priority,
            @Nullable Runnable reserved,
            Listener listener) {
        if (promptLength < 1 || promptLength >= tokens.length) {
            throw new IllegalArgumentException(
                    "prompt of " + promptLength + " in a sequence of " + tokens.length + " tokens");
        }
        this.tokens = tokens;
        this.promptLength = promptLength;
        this.space = space;
        this.sessionId = sessionId;
        this.slot = slot;
        this.priority = priority;
        this.reserved = reserved;
        this.listener = listener;
    }

    public int[] tokens() {
        return tokens;
    }

    public int promptLength() {
        return promptLength;
    }

    public int answerLength() {
        return tokens.length - promptLength;
    }

    CacheSpace space() {
        return space;
    }

    @Nullable String sessionId() {
        return sessionId;
    }

    @Nullable SessionSlot slot() {
        return slot;
    }

    @Nullable Integer priority() {
        return priority;
    }

    @Nullable Runnable reserved() {
        return reserved;
    }

    Listener listener() {
        return listener;
    }

    /** Tokens whose KV is computed: the newest token's is not, until the next step. */
    int computed() {
        return promptLength + Math.max(0, emitted - 1);
    }

    KvCache.Lease held() {
        if (lease == null) {
            throw new IllegalStateException("no blocks are held in state " + state);
        }
        return lease;
    }
}
