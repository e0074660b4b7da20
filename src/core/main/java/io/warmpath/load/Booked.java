package io.warmpath.load;

import io.warmpath.prefix.WorkerSlot;

/**
 * A booking as somebody sees it who tells others of it. Any thread. What can change is read as it
 * is now. Whoever calls {@link #taken} and reads afterwards misses nothing: a change that came too
 * late for the reading is told again.
 */
public interface Booked {
    WorkerSlot slot();

    int prefillTokens();

    PromptBlocks prompt();

    /** 0: not known. */
    int expectedOutput();

    /** The first token has come. */
    boolean prefilled();

    /** Tokens of the answer when its blocks were counted last; 0 unless output is tracked. */
    int outputTokens();

    /** What a block counts that only this request uses, in 1/65536. */
    int weight();

    boolean over();

    /** The last change told of is known: the next one is told again. */
    void taken();
}
