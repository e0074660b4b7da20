package io.warmpath.usage;

/**
 * What one request has used.
 *
 * @param tenant empty: nobody's in particular
 * @param model as workers list it; empty: none that is served
 * @param promptTokens 0 where they are not known, as the others
 * @param cachedTokens of them: as the engine reports, else as predicted
 * @param predictedTokens those of {@code cachedTokens} that no engine has reported
 * @param savedMillis that computing the cached tokens would have taken
 */
public record RequestUse(
        String tenant,
        String model,
        End end,
        long promptTokens,
        long cachedTokens,
        long predictedTokens,
        long outputTokens,
        double savedMillis) {
    /** How it ended. */
    public enum End {
        OK,
        /** No whole answer came, or the engine's answer was an error. */
        ERROR,
        /** The gateway did not let it in. */
        REFUSED,
        /** The client left. */
        LEFT
    }

    /** One that was not let in. */
    public static RequestUse refused(String tenant, String model) {
        return new RequestUse(tenant, model, End.REFUSED, 0, 0, 0, 0, 0);
    }
}
