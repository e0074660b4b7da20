package io.warmpath.usage;

/**
 * Sums over requests. Immutable.
 *
 * @param requests all of them
 * @param errors those without a whole answer, or with an engine's error
 * @param refused those that were not let in
 * @param cachedTokens of the prompt tokens: as engines reported, else as predicted
 * @param predictedTokens those of the cached tokens that no engine has reported
 * @param savedMillis that computing the cached tokens would have taken
 */
public record Spent(
        long requests,
        long errors,
        long refused,
        long promptTokens,
        long cachedTokens,
        long predictedTokens,
        long outputTokens,
        double savedMillis) {
    public static final Spent NOTHING = new Spent(0, 0, 0, 0, 0, 0, 0, 0);

    public Spent plus(Spent more) {
        return new Spent(
                requests + more.requests,
                errors + more.errors,
                refused + more.refused,
                promptTokens + more.promptTokens,
                cachedTokens + more.cachedTokens,
                predictedTokens + more.predictedTokens,
                outputTokens + more.outputTokens,
                savedMillis + more.savedMillis);
    }
}
