package io.warmpath.sim;

import io.warmpath.sim.engine.QueueOrder;
import org.jspecify.annotations.Nullable;

/**
 * What an SGLang server is started with for agents.
 *
 * @param streamingSessions {@code --enable-streaming-session}: sessions whose KV no eviction
 *     reaches
 * @param radixSessions {@code --enable-session-radix-cache}: closing a {@code session_id} drops
 *     what only its requests have used
 * @param priorityScheduling {@code --enable-priority-scheduling}: the queue is ordered by the
 *     requests' {@code priority}, the higher ones first
 * @param lowValuesFirst {@code --schedule-low-priority-values-first}: the queue's lower ones first
 * @param priorityEviction {@code --radix-eviction-policy priority}: blocks of lower values go
 *     first, whatever the queue does
 * @param maxPinnedRatio {@code SGLANG_HICACHE_MAX_PINNED_RATIO}, part of host memory that may be
 *     pinned, from 0 to below 1; null: a build without {@code /hicache/pin_prefix}
 */
public record AgentFeatures(
        boolean streamingSessions,
        boolean radixSessions,
        boolean priorityScheduling,
        boolean lowValuesFirst,
        boolean priorityEviction,
        @Nullable Double maxPinnedRatio) {
    public static final AgentFeatures NONE =
            new AgentFeatures(false, false, false, false, false, null);

    public AgentFeatures {
        if (maxPinnedRatio != null && !(maxPinnedRatio >= 0 && maxPinnedRatio < 1)) {
            throw new IllegalArgumentException(
                    "the pinned ratio must be from 0 to below 1, not " + maxPinnedRatio);
        }
        if (lowValuesFirst && !priorityScheduling) {
            throw new IllegalArgumentException(
                    "--schedule-low-priority-values-first needs --enable-priority-scheduling");
        }
    }

    public AgentFeatures withStreamingSessions() {
        return new AgentFeatures(
                true,
                radixSessions,
                priorityScheduling,
                lowValuesFirst,
                priorityEviction,
                maxPinnedRatio);
    }

    public AgentFeatures withRadixSessions() {
        return new AgentFeatures(
                streamingSessions,
                true,
                priorityScheduling,
                lowValuesFirst,
                priorityEviction,
                maxPinnedRatio);
    }

    /** {@code lowFirst}: lower values come first. */
    public AgentFeatures withPriorityScheduling(boolean lowFirst) {
        return new AgentFeatures(
                streamingSessions, radixSessions, true, lowFirst, priorityEviction, maxPinnedRatio);
    }

    public AgentFeatures withPriorityEviction() {
        return new AgentFeatures(
                streamingSessions,
                radixSessions,
                priorityScheduling,
                lowValuesFirst,
                true,
                maxPinnedRatio);
    }

    /** {@code ratio}: of host memory. */
    public AgentFeatures withPins(double ratio) {
        return new AgentFeatures(
                streamingSessions,
                radixSessions,
                priorityScheduling,
                lowValuesFirst,
                priorityEviction,
                ratio);
    }

    QueueOrder queueOrder() {
        if (!priorityScheduling) {
            return QueueOrder.ARRIVAL;
        }
        return lowValuesFirst ? QueueOrder.LOWER_FIRST : QueueOrder.HIGHER_FIRST;
    }
}
