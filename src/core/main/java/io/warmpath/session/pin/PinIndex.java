package io.warmpath.session.pin;

import io.warmpath.session.SessionKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Pins by their number and by the prompts that begin with them. To be guarded by its user. Finding
 * those of a prompt costs a look-up for each length that some pin has.
 */
final class PinIndex {
    /** A pin as it stands. */
    static final class Entry {
        private Pin pin;

        /** What it takes the place of once it is granted. */
        private List<Long> instead;

        Entry(Pin pin, List<Long> instead) {
            this.pin = pin;
            this.instead = instead;
        }

        Pin pin() {
            return pin;
        }

        /** The same pin, of which more is known. */
        void now(Pin changed) {
            pin = changed;
        }

        /** The numbers of the pins whose place it takes; none from then on. */
        List<Long> takeInstead() {
            List<Long> taken = instead;
            instead = List.of();
            return taken;
        }
    }

    private final Map<Long, Entry> byNumber = new LinkedHashMap<>();
    private final Map<Long, List<Entry>> byName = new HashMap<>();
    private final Map<SessionKey.Scope, Integer> scopes = new HashMap<>();

    /** By block size: how many pins have a length. */
    private final Map<Integer, NavigableMap<Integer, Integer>> lengths = new HashMap<>();

    int size() {
        return byNumber.size();
    }

    /** Some pin is of this model and tenant. */
    boolean has(SessionKey.Scope scope) {
        return scopes.containsKey(scope);
    }

    @Nullable Entry get(long number) {
        return byNumber.get(number);
    }

    /** In the order in which they were put. */
    Collection<Entry> all() {
        return byNumber.values();
    }

    /**
     * Those that a prompt begins with, the longest first.
     *
     * @param chain names of its complete blocks
     */
    List<Entry> along(int blockSize, long[] chain) {
        NavigableMap<Integer, Integer> known = lengths.get(blockSize);
        if (known == null) {
            return List.of();
        }
        List<Entry> found = new ArrayList<>(1);
        for (int blocks : known.headMap(chain.length, true).descendingKeySet()) {
            for (Entry e : byName.getOrDefault(chain[blocks - 1], List.of())) {
                if (e.pin.blocks() == blocks && e.pin.blockSize() == blockSize) {
                    found.add(e);
                }
            }
        }
        return found;
    }

    void put(Entry e) {
        Pin p = e.pin;
        byNumber.put(p.number(), e);
        byName.computeIfAbsent(p.name(), n -> new ArrayList<>(1)).add(e);
        scopes.merge(p.scope(), 1, Integer::sum);
        lengths.computeIfAbsent(p.blockSize(), b -> new TreeMap<>())
                .merge(p.blocks(), 1, Integer::sum);
    }

    void remove(Entry e) {
        Pin p = e.pin;
        byNumber.remove(p.number());
        byName.computeIfPresent(
                p.name(), (n, same) -> same.remove(e) && same.isEmpty() ? null : same);
        scopes.computeIfPresent(p.scope(), (s, n) -> n == 1 ? null : n - 1);
        lengths.computeIfPresent(
                p.blockSize(),
                (b, all) -> {
                    all.computeIfPresent(p.blocks(), (l, n) -> n == 1 ? null : n - 1);
                    return all.isEmpty() ? null : all;
                });
    }
}
