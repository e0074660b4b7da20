package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixSpace;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * One thread's off-heap buffers for calls of one index, and its mark that a call is running. Used
 * by one thread at a time; {@link #isBusy} by any.
 */
final class Scratch {
    private static final long KEEP_BYTES = 1 << 20;
    private static final long KEEP_TOKEN_BYTES = 4 << 20;
    private static final int OUT_BYTES = Math.max(KvLayout.STATISTICS_SIZE, KvLayout.APPLIED_SIZE);
    private static final VarHandle BUSY;

    static {
        try {
            BUSY = MethodHandles.lookup().findVarHandle(Scratch.class, "busy", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Token ids of a query. */
    final OffHeap tokens = new OffHeap(16 << 10, KEEP_TOKEN_BYTES);

    /** Hashes of a query. */
    final OffHeap sequence = new OffHeap(1 << 10, KEEP_BYTES);

    /** Hits of a query. */
    final OffHeap hits = new OffHeap(64L * KvLayout.HIT_SIZE, KEEP_BYTES);

    /** Packed events; made by the first batch, query threads need none. */
    final OffHeap events = new OffHeap(8, KEEP_BYTES);

    /** Local hashes of several queries; the three of them are made by the first such call. */
    final OffHeap locals = new OffHeap(8, KEEP_BYTES);

    /** What is asked in that call. */
    final OffHeap queries = new OffHeap(8, KEEP_BYTES);

    /** A text to tokenise. */
    final OffHeap utf8 = new OffHeap(8, KEEP_BYTES);

    /** The same as Java has it. */
    final OffHeap utf16 = new OffHeap(8, KEEP_BYTES);

    private char[] chars = new char[0];

    /** Depths that it answers. */
    final OffHeap rows = new OffHeap(8, KEEP_BYTES);

    /** Results of fixed size: counts, seeds, statistics. */
    final OffHeap out = new OffHeap(OUT_BYTES, OUT_BYTES);

    private final OffHeap text = new OffHeap(64, KEEP_BYTES);

    @SuppressWarnings("UnusedVariable") // through BUSY
    private boolean busy;

    /**
     * Marks a call as running. volatile: the mark must be visible before this thread reads whether
     * the index is closed. Pairs with {@link #isBusy} in close(), which writes closed first and
     * reads the mark second: one of the two sees the other.
     */
    void begin() {
        BUSY.setVolatile(this, true);
    }

    /** release: pairs with the acquire in {@link #isBusy}; the call's effects come before it. */
    void end() {
        BUSY.setRelease(this, false);
    }

    boolean isBusy() {
        return (boolean) BUSY.getVolatile(this);
    }

    /** Gives back what one large call needed. */
    void trim() {
        tokens.trim();
        sequence.trim();
        hits.trim();
        events.trim();
        locals.trim();
        queries.trim();
        rows.trim();
        utf8.trim();
        utf16.trim();
        if (chars.length > KEEP_BYTES / Character.BYTES) {
            chars = new char[0];
        }
        text.trim();
    }

    /** The text's characters, and others behind them; until the next call. */
    char[] chars(String text) {
        if (chars.length < text.length()) {
            chars = new char[Math.max(text.length(), chars.length * 2)];
        }
        text.getChars(0, text.length(), chars, 0);
        return chars;
    }

    int outInt(int offset) {
        return out.values().getInt(offset);
    }

    long outLong(int offset) {
        return out.values().getLong(offset);
    }

    /** Makes an index; its handle is then the first result. */
    int open(long orphanLimit, int ghostPercent, DecisionLimits decisions, long maxBytes) {
        text.segment().asSlice(0, KvLayout.CONFIG_SIZE).fill((byte) 0);
        ByteBuffer config = text.values();
        config.putInt(KvLayout.CONFIG_SIZE_AT, KvLayout.CONFIG_SIZE);
        config.putInt(KvLayout.CONFIG_GHOST_PERCENT_AT, ghostPercent);
        config.putLong(KvLayout.CONFIG_ORPHAN_LIMIT_AT, orphanLimit);
        config.putLong(KvLayout.CONFIG_BYTE_BUDGET_AT, maxBytes);
        config.putLong(KvLayout.CONFIG_DECISION_TTL_AT, decisions.ttlMillis());
        config.putLong(KvLayout.CONFIG_DECISION_CAPACITY_AT, decisions.capacity());
        return KvIndexLibrary.kvi_open(text.address(), out.address());
    }

    /** Hash seed of a space. */
    long seed(PrefixSpace space) {
        byte[] lora = space.lora().getBytes(StandardCharsets.UTF_8);
        byte[] salt = space.salt().getBytes(StandardCharsets.UTF_8);
        text.ensure((long) lora.length + salt.length);
        MemorySegment.copy(lora, 0, text.segment(), ValueLayout.JAVA_BYTE, 0, lora.length);
        MemorySegment.copy(
                salt, 0, text.segment(), ValueLayout.JAVA_BYTE, lora.length, salt.length);
        Status.check(
                KvIndexLibrary.kvi_seed(
                        text.address(),
                        lora.length,
                        text.address() + lora.length,
                        salt.length,
                        out.address()),
                "kvi_seed");
        return outLong(0);
    }
}
