package io.warmpath.gateway.plan;

import io.warmpath.admission.ModelQueue;
import org.jspecify.annotations.Nullable;

/**
 * What a request brings from its model's queue.
 *
 * @param nanos how long it has waited
 * @param account whom its answer is charged to; null: the model has no queue
 */
public record Waited(long nanos, ModelQueue.@Nullable Account account) {
    static final Waited NOT_AT_ALL = new Waited(0, null);
}
