package io.warmpath.lab;

/**
 * Routers that take turns.
 *
 * @param count how many
 * @param syncMillis after which one hears what another has sent, and what became of it; negative:
 *     never
 * @param limitMillis a router that hears so late of another, or not for so long, goes by its own
 *     requests alone: what is stale misleads all of them alike
 */
public record Replicas(int count, double syncMillis, double limitMillis) {
    public static final double LIMIT_MILLIS = 50;

    /** Routers that know nothing of each other. */
    static Replicas apart(int count) {
        return new Replicas(count, -1, LIMIT_MILLIS);
    }

    boolean talk() {
        return count > 1 && syncMillis >= 0 && syncMillis <= limitMillis;
    }
}
