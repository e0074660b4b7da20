package io.warmpath.usage;

/**
 * What came of one request on one worker. Numbers that are not known are negative.
 *
 * @param failed the worker gave no whole answer though the client waited, or an error of its own
 * @param firstTokenNanos since it was sent there
 * @param promptTokens as the engine counted
 * @param cachedTokens of them, as the engine reports
 * @param predictedTokens cached ones that were predicted; negative: not to be compared
 */
public record WorkerTry(
        boolean failed,
        long firstTokenNanos,
        long promptTokens,
        long cachedTokens,
        long predictedTokens) {}
