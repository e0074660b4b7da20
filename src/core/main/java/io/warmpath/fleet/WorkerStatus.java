package io.warmpath.fleet;

import java.util.List;

/**
 * A worker with what only operators see. Immutable.
 *
 * @param events where its KV events come from, empty until it answered or when it has none
 * @param problem why it is not ready, empty when it is
 * @param disagreements where its engine says otherwise than its record, which counts, and what it
 *     tells in a form that is not usable
 */
public record WorkerStatus(
        Worker worker,
        WorkerSpec spec,
        List<EventEndpoint> events,
        String problem,
        List<String> disagreements) {}
