package io.warmpath.gateway.answer;

/**
 * What is known of an answer beside its bytes, at one moment of it. Numbers that are not known are
 * negative; times are in nanoseconds and begin with the request's last byte.
 *
 * @param worker id of who answers, u64
 * @param prefillWorker id of who has computed the prompt, u64; {@code worker} where that is the
 *     same
 * @param sentNanos until it was sent to that worker
 * @param firstTokenNanos until the first token of a stream
 * @param nanos until now
 * @param promptTokens as the engine has counted, else as was counted here
 * @param cachedTokens as the engine has reported, else as was predicted
 * @param outputTokens as the engine has counted, else the events of a stream
 */
public record AnswerFacts(
        long worker,
        int dpRank,
        long prefillWorker,
        int prefillRank,
        long sentNanos,
        long firstTokenNanos,
        long nanos,
        long promptTokens,
        long cachedTokens,
        long outputTokens) {}
