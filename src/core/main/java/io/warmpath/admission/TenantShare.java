package io.warmpath.admission;

/**
 * How one tenant stands at a queue now. Immutable.
 *
 * @param tenant empty: those without one
 * @param share of the work that goes to this class while the same tenants wait, 0 to 1; 0 when it
 *     does not wait
 * @param waiting requests
 * @param oldestNanos how long the one that goes first has waited
 * @param started requests, since the queue was last empty
 * @param refused requests, since the queue was last empty, as the tenant had its part of the places
 */
public record TenantShare(
        String tenant,
        int weight,
        double share,
        int waiting,
        long oldestNanos,
        long started,
        long refused) {}
