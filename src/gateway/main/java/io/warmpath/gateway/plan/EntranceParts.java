package io.warmpath.gateway.plan;

import io.warmpath.admission.Admission;
import io.warmpath.gateway.observe.FlowMetrics;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Parts that all entrances use.
 *
 * @param retryAfter what {@code Retry-After} says when no worker is there
 * @param nanoTime as {@link System#nanoTime}
 */
public record EntranceParts(
        Planner planner,
        Admission admission,
        FlowMetrics metrics,
        Duration retryAfter,
        LongSupplier nanoTime) {}
