package io.warmpath.access;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The budgets of those who have been seen lately, by name: keys that are read again, and tokens
 * that are renewed, go on with what they had left.
 *
 * <p>Any thread. Of more than {@code capacity} names those unused for longest are forgotten, and
 * would begin anew.
 */
public final class Budgets {
    /** One client's; null: no limit. */
    record Pair(@Nullable Budget requests, @Nullable Budget tokens) {}

    private final Map<String, Pair> pairs; // guarded by this

    public Budgets(int capacity) {
        pairs =
                new LinkedHashMap<>(64, 0.75f, true) {
                    @Override
                    protected boolean removeEldestEntry(Map.Entry<String, Pair> eldest) {
                        return size() > capacity;
                    }
                };
    }

    /** This client's, new ones where its limits are not what they were. */
    synchronized Pair of(Grant grant, long now) {
        Pair old = pairs.get(grant.name());
        Pair pair =
                new Pair(
                        budget(old == null ? null : old.requests(), grant.requestsPerMinute(), now),
                        budget(old == null ? null : old.tokens(), grant.tokensPerMinute(), now));
        pairs.put(grant.name(), pair);
        return pair;
    }

    private static @Nullable Budget budget(@Nullable Budget old, long perMinute, long now) {
        if (perMinute == 0) {
            return null;
        }
        return old != null && old.limit() == perMinute ? old : new Budget(perMinute, now);
    }
}
