package io.warmpath.prefix;

import io.warmpath.prefix.ContentTree.Block;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Stored events whose parent their slot does not hold, waiting for it, oldest first. Bounded: past
 * {@code limit} waiting blocks the oldest events are given up, which costs a cold prefill later and
 * never a wrong answer. Not thread-safe: {@link ReferencePrefixIndex} guards it.
 */
final class OrphanEvents {
    private final long limit;
    private final Deque<Orphan> oldestFirst = new ArrayDeque<>();
    private final Map<Key, List<Orphan>> waiting = new HashMap<>();
    private long blocks;
    private long givenUp;

    OrphanEvents(long limit) {
        this.limit = limit;
    }

    /** (slot, block) pairs that wait, those of one pair in two events counted twice. */
    long blocks() {
        return blocks;
    }

    void add(Orphan orphan) {
        oldestFirst.addLast(orphan);
        waiting.computeIfAbsent(orphan.key(), k -> new ArrayList<>()).add(orphan);
        blocks += orphan.alive();
        while (blocks > limit && !oldestFirst.isEmpty()) {
            givenUp += oldestFirst.getFirst().alive();
            drop(oldestFirst.getFirst());
        }
    }

    /** Takes out all that wait for this parent, in the order in which they came. */
    List<Orphan> take(int slot, long parent) {
        List<Orphan> taken = List.copyOf(waiting.getOrDefault(new Key(slot, parent), List.of()));
        taken.forEach(this::drop);
        return taken;
    }

    /** Strikes one hash out of all waiting events of this tier; true when there was one. */
    boolean strike(int slot, Tier tier, long hash) {
        boolean found = false;
        for (Orphan orphan : oldestFirst) {
            if (orphan.key().slot() == slot && orphan.tier() == tier) {
                int struck = orphan.strike(hash);
                blocks -= struck;
                found |= struck > 0;
            }
        }
        return found;
    }

    /** Waiting blocks that were dropped at the limit. */
    long givenUp() {
        return givenUp;
    }

    /** Forgets what waits in these tiers, one bit per tier number. */
    void clear(int slot, int tiers) {
        for (Iterator<Orphan> it = oldestFirst.iterator(); it.hasNext(); ) {
            Orphan orphan = it.next();
            if (orphan.key().slot() == slot && (tiers & 1 << orphan.tier().number()) != 0) {
                it.remove();
                leave(orphan);
            }
        }
    }

    private void drop(Orphan orphan) {
        oldestFirst.removeFirstOccurrence(orphan);
        leave(orphan);
    }

    private void leave(Orphan orphan) {
        List<Orphan> siblings = waiting.get(orphan.key());
        if (siblings != null) {
            siblings.remove(orphan);
            if (siblings.isEmpty()) {
                waiting.remove(orphan.key());
            }
        }
        blocks -= orphan.alive();
    }

    /** Which parent an orphan waits for. */
    record Key(int slot, long parent) {}

    /** One waiting event. Identity, not value: the same event may wait twice. */
    static final class Orphan {
        private final Key key;
        private final Tier tier;
        private final long[] hashes;
        private final List<Block> content;
        private final boolean[] struck;

        Orphan(Key key, Tier tier, long[] hashes, List<Block> content) {
            this.key = key;
            this.tier = tier;
            this.hashes = hashes;
            this.content = content;
            this.struck = new boolean[hashes.length];
        }

        Key key() {
            return key;
        }

        Tier tier() {
            return tier;
        }

        long[] hashes() {
            return hashes;
        }

        List<Block> content() {
            return content;
        }

        /** A struck block is not stored, but keeps its place: those behind it stay behind it. */
        boolean isStruck(int i) {
            return struck[i];
        }

        private int strike(long hash) {
            int count = 0;
            for (int i = 0; i < hashes.length; i++) {
                if (hashes[i] == hash && !struck[i]) {
                    struck[i] = true;
                    count++;
                }
            }
            return count;
        }

        private int alive() {
            int count = 0;
            for (boolean gone : struck) {
                count += gone ? 0 : 1;
            }
            return count;
        }
    }
}
