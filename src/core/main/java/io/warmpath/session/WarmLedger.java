package io.warmpath.session;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which beginnings of next turns have been computed ahead, so that what engines report of those
 * turns can be told from what would have been cached anyway. Any thread; one critical section of at
 * most 1,024 look-ups for each turn, none while nothing was ever computed ahead.
 *
 * <p>A conversation is known by the names of its last complete blocks: several, as what a template
 * puts in front of an answer is often not there in the next turn. Accepted imprecision: of
 * conversations that end in equal blocks the last one is known; tokens of an answer that the engine
 * had kept by itself count as warmed. Counts for a metric, decides nothing.
 */
public final class WarmLedger {
    /** So many blocks at a prompt's end name its conversation. */
    private static final int NAMES = 4;

    /** A next turn is looked for in so many blocks at its end: what it adds is shorter. */
    private static final int LOOKED_AT = 1024;

    /**
     * Tokens that were computed ahead.
     *
     * @param slot of the rank that holds them
     * @param from the length of the turn before
     * @param to the length of what was sent
     */
    public record Warmed(int slot, int from, int to) {
        /** Of these, those that the engine has found cached. */
        public int hit(long cached) {
            return (int) Math.max(0, Math.min(cached, to) - from);
        }
    }

    private final int max;

    // Guarded by itself; the oldest goes first.
    private final Map<Long, Warmed> byName = new LinkedHashMap<>();
    private volatile boolean used;

    /** {@code max}: names that are kept; some 100 bytes each. */
    public WarmLedger(int max) {
        this.max = max;
    }

    /**
     * @param chain names of the complete blocks of the turn before; empty: it will not be found
     */
    public void add(long[] chain, Warmed warmed) {
        used = true;
        synchronized (byName) {
            for (int i = Math.max(0, chain.length - NAMES); i < chain.length; i++) {
                byName.remove(chain[i]); // so that it becomes the youngest
                byName.put(chain[i], warmed);
            }
            while (byName.size() > max) {
                byName.remove(byName.keySet().iterator().next());
            }
        }
    }

    /**
     * What was computed ahead for a turn with these blocks on this rank; null: nothing. It is
     * forgotten with that: each counts once.
     */
    public @Nullable Warmed take(long[] chain, int slot) {
        if (!used) {
            return null;
        }
        synchronized (byName) {
            for (int i = chain.length - 1; i >= Math.max(0, chain.length - LOOKED_AT); i--) {
                Warmed found = byName.get(chain[i]);
                if (found != null && found.slot() == slot) {
                    for (int j = Math.max(0, i - NAMES + 1); j <= i; j++) {
                        byName.remove(chain[j], found);
                    }
                    return found;
                }
            }
            return null;
        }
    }
}
