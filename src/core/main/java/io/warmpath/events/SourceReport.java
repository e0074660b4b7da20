package io.warmpath.events;

import org.jspecify.annotations.Nullable;

/**
 * One source as operators see it. Immutable.
 *
 * @param endpoint null when there is none
 * @param replayEndpoint null when there is none
 * @param credit part of what is known of its cache that counts now, 0 to 1
 * @param deviceOnly it tells nothing of the host memory that its engine keeps blocks in
 */
public record SourceReport(
        String worker,
        long workerId,
        int dpRank,
        @Nullable String endpoint,
        @Nullable String replayEndpoint,
        double credit,
        boolean deviceOnly,
        SourceStatus status) {}
