package io.warmpath.gateway.selfcheck;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whether the last answers had prompts of the length that was predicted, and what follows. Trust is
 * lost when {@value #DIFFERING} of the last {@value #LAST} differ, and won back when none of them
 * does: single requests that an engine changes do not count, and what has been wrong has to be
 * right for a while. Any thread, no lock.
 */
final class LengthRecord {
    static final int LAST = 16;
    static final int DIFFERING = 12;

    /** What an answer changed. */
    enum Turn {
        NONE,
        LOST,
        WON
    }

    private static final int WINDOW = (1 << LAST) - 1;
    private static final int DISTRUSTED = 1 << LAST;

    /** A bit for each answer that differed, the newest lowest; above them {@link #DISTRUSTED}. */
    private final AtomicInteger state = new AtomicInteger();

    Turn add(boolean differs) {
        while (true) {
            int before = state.get();
            int window = (before << 1 | (differs ? 1 : 0)) & WINDOW;
            boolean was = (before & DISTRUSTED) != 0;
            boolean is = was ? window != 0 : Integer.bitCount(window) >= DIFFERING;
            int after = window | (is ? DISTRUSTED : 0);
            if (after == before) {
                return Turn.NONE; // the same answer as before does not write
            }
            if (state.compareAndSet(before, after)) {
                return is == was ? Turn.NONE : is ? Turn.LOST : Turn.WON;
            }
        }
    }

    boolean trusted() {
        return (state.get() & DISTRUSTED) == 0;
    }

    /** Of the last answers. */
    int differing() {
        return Integer.bitCount(state.get() & WINDOW);
    }
}
