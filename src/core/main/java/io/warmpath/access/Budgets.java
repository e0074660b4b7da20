package io.warmpath.access;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * The budgets of those who have been seen lately, by name: keys that are read again, and tokens
 * that are renewed, go on with what they had left. Any thread. Of more than {@code capacity} names
 * those unused for longest are forgotten, and would begin anew.
 */
public final class Budgets {
    /** One client's; null: no limit. */
    record Pair(String tenant, @Nullable Budget requests, @Nullable Budget tokens) {}

    /**
     * What a client has left.
     *
     * @param client name of its grant
     * @param tenant empty: none
     * @param requests null: no limit, as {@code tokens}
     */
    public record Left(
            String client, String tenant, @Nullable Part requests, @Nullable Part tokens) {}

    /** {@code left}: that can be taken now. */
    public record Part(long perMinute, long left) {}

    private final SequencedMap<String, Pair> pairs; // guarded by this

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
                        grant.tenant(),
                        budget(old == null ? null : old.requests(), grant.requestsPerMinute(), now),
                        budget(old == null ? null : old.tokens(), grant.tokensPerMinute(), now));
        pairs.put(grant.name(), pair);
        return pair;
    }

    /** Clients that have a limit, those seen last first. {@code most}: clients that are wanted. */
    public synchronized List<Left> left(int most, long now) {
        List<Left> out = new ArrayList<>();
        for (Map.Entry<String, Pair> e : pairs.sequencedEntrySet().reversed()) {
            Pair pair = e.getValue();
            if (out.size() == most) {
                break;
            }
            if (pair.requests() != null || pair.tokens() != null) {
                out.add(
                        new Left(
                                e.getKey(),
                                pair.tenant(),
                                part(pair.requests(), now),
                                part(pair.tokens(), now)));
            }
        }
        return out;
    }

    private static @Nullable Part part(@Nullable Budget budget, long now) {
        return budget == null ? null : new Part(budget.limit(), budget.remaining(now));
    }

    private static @Nullable Budget budget(@Nullable Budget old, long perMinute, long now) {
        if (perMinute == 0) {
            return null;
        }
        return old != null && old.limit() == perMinute ? old : new Budget(perMinute, now);
    }
}
