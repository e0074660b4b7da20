package io.warmpath.admission;

/** Who of a class goes first. The larger key wins; stateless. */
public enum QueuePolicy {
    /** First come, first served; a point of priority is worth a second of waiting. */
    FCFS {
        @Override
        double key(double priority, double arrivalSeconds, long uncachedTokens) {
            return priority - arrivalSeconds;
        }
    },

    /** Weighted shortest processing time: little work first, priority multiplies. */
    WSPT {
        @Override
        double key(double priority, double arrivalSeconds, long uncachedTokens) {
            return (1 + priority) / Math.max(1, uncachedTokens);
        }
    };

    /**
     * @param arrivalSeconds since some fixed moment
     * @param uncachedTokens prompt tokens that will have to be computed
     */
    abstract double key(double priority, double arrivalSeconds, long uncachedTokens);
}
